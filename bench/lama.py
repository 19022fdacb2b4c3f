"""Fast Downward's LAMA on PDDL problems: seconds to the first plan and its length.

    python3 -m venv .tools/pddl && .tools/pddl/bin/pip install --no-deps up-fast-downward==1.0.0
    .tools/pddl/bin/python bench/lama.py SECONDS DOMAIN PROBLEM [PROBLEM...]

Prints one JSON line per problem: {"problem", "seconds", "steps"}, with "steps" null where no plan was found in time.
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time


def planner():
    spec = importlib.util.find_spec("up_fast_downward")
    if spec is None:
        sys.exit("Fast Downward is missing: .tools/pddl/bin/pip install --no-deps up-fast-downward==1.0.0")
    return os.path.join(os.path.dirname(spec.origin), "downward", "fast-downward.py")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    limit, domain, problems = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    for problem in problems:
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan")
            command = [sys.executable, planner(), "--alias", "lama-first", "--overall-time-limit", f"{limit}s",
                       "--plan-file", plan, os.path.abspath(domain), os.path.abspath(problem)]
            start = time.monotonic()
            subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            seconds = time.monotonic() - start
            steps = None
            if os.path.exists(plan):
                with open(plan) as lines:
                    steps = sum(1 for line in lines if line.startswith("("))
            print(json.dumps({"problem": problem, "seconds": round(seconds, 3), "steps": steps}), flush=True)


main()

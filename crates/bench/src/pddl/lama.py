"""Fast Downward's LAMA on one PDDL problem: `lama.py SECONDS DOMAIN PROBLEM`, with the package up-fast-downward.

Prints one JSON line, {"seconds", "steps"}: the time to the first plan and its length, null where none was found in time.
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

limit, domain, problem = int(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
home = os.path.dirname(importlib.util.find_spec("up_fast_downward").origin)
with tempfile.TemporaryDirectory() as folder:
    plan = os.path.join(folder, "plan")
    command = [sys.executable, os.path.join(home, "downward", "fast-downward.py"), "--alias", "lama-first",
               "--overall-time-limit", f"{limit}s", "--plan-file", plan, domain, problem]
    start = time.monotonic()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    seconds = time.monotonic() - start
    steps = None
    if os.path.exists(plan):
        with open(plan) as lines:
            steps = sum(1 for line in lines if line.startswith("("))
print(json.dumps({"seconds": round(seconds, 3), "steps": steps}))

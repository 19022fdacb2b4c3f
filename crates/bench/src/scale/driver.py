"""Decides with an exported policy in states that change: driver.py POLICY STEPS SECONDS

STEPS holds one line per state: facts that no longer hold, facts that hold from now on, and whether (1) to decide here. Printed, a
line a decision: seconds, value, actions. Timed is the processor's time for grounding and solving, not for reading program and
facts. Stops after SECONDS of it.
"""

import sys
import time

import clingo

UNIT, RECORD = "\x1f", "\x1e"


def show(symbol):
    return str(symbol.number) if symbol.type == clingo.SymbolType.Number else symbol.name or symbol.string


def decide(program, facts):
    control = clingo.Control(["--warn=none"])
    control.add("base", [], program)
    control.add("base", [], "".join(f"{fact}." for fact in facts))
    models = []
    start = time.process_time()
    control.ground([("base", [])])
    control.solve(on_model=lambda model: models.append(model.symbols(shown=True)))
    seconds = time.process_time() - start
    (model,) = models
    values = [s.arguments[0].string for s in model if s.name == "best_value"]
    actions = [s.arguments[0] for s in model if s.name == "best"]
    shown = RECORD.join(UNIT.join([a.name, *map(show, a.arguments)]) for a in actions)
    print(f"{seconds:.10f}\t{''.join(values) or '0.0'}\t{shown}")
    return seconds


def main(policy, steps, left):
    with open(policy, encoding="utf-8") as file:
        program = file.read()
    facts = {}
    with open(steps, encoding="utf-8") as file:
        for line in file:
            gone, come, ask = line.rstrip("\n").split("\t")
            for fact in filter(None, gone.split(RECORD)):
                del facts[fact]
            facts.update((fact, None) for fact in filter(None, come.split(RECORD)))
            if ask == "1":
                left -= decide(program, facts)
            if left < 0:
                break


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))

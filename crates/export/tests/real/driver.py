"""Decides in many states with an exported program: driver.py python|asp|problog CASE...

CASE.states holds the states; what was decided is printed, one line per state. Fields are separated by the unit separator.
"""

import importlib.util
import re
import sys

UNIT, RECORD = "\x1f", "\x1e"


def value_of(text):
    return int(text[2:]) if text.startswith("i:") else text[2:]


def show(value):
    return f"i:{value}" if isinstance(value, int) else f"n:{value}"


def show_actions(actions):
    return RECORD.join(sorted(UNIT.join([name, *map(show, args)]) for name, *args in actions))


def states(case):
    with open(f"{case}.states", encoding="utf-8") as file:
        facts, objects = [], []
        for line in file.read().split("\n"):
            kind, *fields = line.split(UNIT)
            if kind == "fact":
                facts.append((fields[0], *map(value_of, fields[1:])))
            elif kind == "object":
                objects.append((value_of(fields[0]), fields[1]))
            elif kind == "end":
                yield facts, objects
                facts, objects = [], []


def texts(case, ending):
    """The facts of each state as the program's own language has them."""
    with open(f"{case}.{ending}", encoding="utf-8") as file:
        yield from file.read().split(RECORD + "\n")[:-1]


def python(case):
    spec = importlib.util.spec_from_file_location("policy", f"{case}.py")
    policy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(policy)
    for facts, objects in states(case):
        value, actions = policy.best_actions(facts, objects)
        print(f"{value}\t{show_actions(actions)}")


def asp(case):
    import clingo

    def term(symbol):
        if symbol.type == clingo.SymbolType.Number:
            return symbol.number
        if symbol.type == clingo.SymbolType.String:
            return symbol.string
        if symbol.name == "int" and symbol.arguments:
            return int(symbol.arguments[0].string)
        return symbol.name

    with open(f"{case}.lp", encoding="utf-8") as file:
        program = file.read()
    for facts in texts(case, "lp-facts"):
        control = clingo.Control(["--warn=all"])
        control.add("base", [], program + facts)
        control.ground([("base", [])])
        models = []
        control.solve(on_model=lambda model: models.append(list(model.symbols(shown=True))))
        (model,) = models
        values = [s.arguments[0].string for s in model if s.name.startswith("best_value")]
        actions = [s.arguments[0] for s in model if not s.name.startswith("best_value")]
        actions = [(a.name, *map(term, a.arguments)) for a in actions]
        print(f"{''.join(values) or '0.0'}\t{show_actions(actions)}")


def problog(case):
    from problog import get_evaluatable
    from problog.logic import Constant
    from problog.program import PrologString

    def name(functor):
        text = str(functor)
        return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith("'") else text

    def term(value):
        return int(value) if isinstance(value, Constant) and value.is_integer() else name(value.functor)

    with open(f"{case}.problog", encoding="utf-8") as file:
        program = file.read()
    for facts in texts(case, "problog-facts"):
        result = get_evaluatable().create_from(PrologString(program + facts)).evaluate()
        best, chosen = [], {}
        for query, probability in result.items():
            action = query.args[0]
            if not query.is_ground():
                continue
            action = (name(action.functor), *map(term, action.args))
            if query.functor.startswith("best"):
                if probability > 0:
                    assert probability == 1, query
                    best.append(action)
            else:
                chosen[action] = probability
        values = RECORD.join(f"{show_actions([a])}={p!r}" for a, p in sorted(chosen.items(), key=str) if p > 0)
        print(f"-\t{show_actions(best)}\t{values}")


if __name__ == "__main__":
    for each in sys.argv[2:]:
        print(f"case {each}")
        globals()[sys.argv[1]](each)

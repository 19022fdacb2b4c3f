"""Replays episodes in pddlgym's own simulator and says where it disagrees. Reads a file of lines:

D domain file / P problem file / A 0|1 operator objects (is it applicable?) / S facts after it / G 0|1 (is the goal reached?)

Prints one line a problem: `agrees domain steps refused` or `cannot domain reason`, or stops with what differs.
"""
import importlib.util
import os
import sys
import types
import warnings

warnings.filterwarnings("ignore")
# pddlgym's package file registers every environment and needs plotting libraries for it; its simulator does not.
root = os.path.dirname(importlib.util.find_spec("pddlgym").origin)
package = types.ModuleType("pddlgym")
package.__path__ = [root]
sys.modules["pddlgym"] = package
gym = types.ModuleType("gym")
gym.Env = object
gym.Space = object
gym.spaces = types.ModuleType("gym.spaces")
gym.spaces.Space = object
sys.modules["gym"], sys.modules["gym.spaces"] = gym, gym.spaces
for unused in ["imageio", "matplotlib", "matplotlib.pyplot"]:
    sys.modules[unused] = types.ModuleType(unused)
from pddlgym.core import InvalidAction, get_successor_state  # noqa: E402
from pddlgym.inference import check_goal  # noqa: E402
from pddlgym.parser import PDDLDomainParser, PDDLProblemParser  # noqa: E402
from pddlgym.structs import State  # noqa: E402


class Cannot(Exception):
    pass


def shown(state, derived):
    facts = {(l.predicate.name.lower(),) + tuple(v.name.lower() for v in l.variables) for l in state.literals}
    return sorted(" ".join(f) for f in facts if f[0] not in derived)


def replay(domain_file, problem_file, lines):
    try:
        domain = PDDLDomainParser(domain_file, expect_action_preds=False, operators_as_actions=True)
        problem = PDDLProblemParser(problem_file, domain.domain_name, domain.types, domain.predicates,
                                    domain.actions, domain.constants)
    except Exception as e:  # pddlgym reads fewer files than it ships
        raise Cannot(f"pddlgym does not read it: {type(e).__name__} {e}")
    derived = {p.name.lower() for p in domain.predicates.values() if getattr(p, "is_derived", False)}
    objects = {o.name.lower(): o for o in list(problem.objects) + list(domain.constants or [])}
    actions = {a.name.lower() if hasattr(a, "name") else str(a).lower(): a for a in domain.actions}
    state = State(frozenset(problem.initial_state), frozenset(problem.objects), problem.goal)
    steps = refused = 0
    for kind, rest in lines:
        if kind == "A":
            applicable, name, *args = rest.split()
            predicate = domain.predicates.get(name) or actions[name]
            predicate = {p.name.lower(): p for p in domain.predicates.values() if p.name.lower() == name}.get(name, predicate)
            try:
                literal = predicate(*[objects[a] for a in args])
                new = get_successor_state(state, literal, domain, raise_error_on_invalid_action=True,
                                          require_unique_assignment=False)
                theirs = True
            except InvalidAction:
                theirs = False
            except Exception as e:
                raise Cannot(f"pddlgym does not step it: {type(e).__name__} {e}")
            if theirs != (applicable == "1"):
                raise SystemExit(f"{problem_file}: pddlgym says applicable={theirs} of {rest} in\n" + "\n".join(shown(state, derived)))
            if theirs:
                state = new
                steps += 1
            else:
                refused += 1
        elif kind == "S":
            ours = sorted(f for f in rest.split(";") if f)
            if ours != shown(state, derived):
                theirs = shown(state, derived)
                raise SystemExit(f"{problem_file}: states differ after {steps} steps\nonly ours {set(ours) - set(theirs)}\nonly theirs {set(theirs) - set(ours)}")
        elif kind == "G":
            try:
                reached = check_goal(state, problem.goal)
            except Exception as e:
                raise Cannot(f"pddlgym does not check its goal: {type(e).__name__} {e}")
            if reached != (rest == "1"):
                raise SystemExit(f"{problem_file}: pddlgym says reached={reached}")
    return steps, refused


def main():
    episodes = []
    for line in open(sys.argv[1]):
        kind, _, rest = line.rstrip("\n").partition(" ")
        if kind == "D":
            episodes.append((rest, None, []))
        elif kind == "P":
            episodes[-1] = (episodes[-1][0], rest, [])
        else:
            episodes[-1][2].append((kind, rest))
    for domain, problem, lines in episodes:
        name = os.path.basename(domain)
        try:
            steps, refused = replay(domain, problem, lines)
            print("agrees", name, steps, refused)
        except Cannot as e:
            print("cannot", name, " ".join(str(e).split())[:200])


main()

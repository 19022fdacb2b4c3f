"""Replays episodes in pddlgym's own simulator and says where it disagrees. Reads a file of lines:

D domain file / P problem file / A 0|1 operator objects (is it applicable?) / S facts after it / G 0|1 (is the goal reached?)

Prints one line per problem: `agrees domain steps refused` or `cannot domain reason`, or stops with what differs.
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
from pddlgym import core, prolog_interface  # noqa: E402
from pddlgym.inference import check_goal, find_satisfying_assignments  # noqa: E402
from pddlgym.parser import PDDLDomainParser, PDDLProblemParser  # noqa: E402
from pddlgym.spaces import LiteralSetSpace  # noqa: E402
from pddlgym.structs import Predicate, State, ground_literal  # noqa: E402


def patient(command):
    """What SWI-Prolog answers, with time enough on a busy machine, and without threads: now and then, its collector of garbage
    is still running when it ends, and it says so in the middle of the answer."""
    return getoutput(command.replace("timeout 2 swipl", "timeout 60 swipl --no-threads"))


getoutput = prolog_interface.subprocess.getoutput
prolog_interface.subprocess.getoutput = patient


class Cannot(Exception):
    pass


def shown(state, hidden):
    facts = {(l.predicate.name.lower(),) + tuple(v.name.lower() for v in l.variables) for l in state.literals}
    return sorted(" ".join(f) for f in facts if f[0] not in hidden)


def parse(domain_file):
    """The domain with its operators as actions; where that is not allowed, with the action predicates of its own."""
    try:
        return PDDLDomainParser(domain_file, expect_action_preds=False, operators_as_actions=True)
    except AssertionError:
        return PDDLDomainParser(domain_file, expect_action_preds=True)


def successor(state, name, args, domain):
    """The next state by pddlgym, or None where the operator is not applicable to these objects."""
    operator = {o.name.lower(): o for o in domain.operators.values()}[name]
    if domain.operators_as_actions:
        predicate = {p.name.lower(): p for p in domain.predicates.values()}[name]
        try:
            return core.get_successor_state(state, predicate(*args), domain, raise_error_on_invalid_action=True,
                                            require_unique_assignment=False)
        except core.InvalidAction:
            return None
    # As get_successor_state does it, for this operator and with all its parameters given.
    chosen = Predicate("replayed", len(args), [p.var_type for p in operator.params])
    conds = operator.preconds.literals if hasattr(operator.preconds, "literals") else [operator.preconds]
    conds = [chosen(*operator.params)] + list(conds)
    kb = set(state.literals) | {chosen(*args)}
    binding = dict(zip(operator.params, args))
    kb |= {ground_literal(c, binding) for c in conds if getattr(c, "predicate", None) in action_predicates(domain)}
    mode = "csp" if core._check_domain_for_strips(domain) else "prolog"
    found = find_satisfying_assignments(kb, conds, type_to_parent_types=domain.type_to_parent_types,
                                        constants=domain.constants, mode=mode)
    if not found:
        return None
    effects = operator.effects.literals if hasattr(operator.effects, "literals") else [operator.effects]
    return core._apply_effects(state, effects, found[0])


def action_predicates(domain):
    return {domain.predicates[a] for a in domain.actions if a in domain.predicates}


def derive(state, domain):
    """The state with what pddlgym derives in it."""
    predicates = set(domain.predicates.values()) - action_predicates(domain)
    space = LiteralSetSpace(predicates, type_hierarchy=domain.type_hierarchy, type_to_parent_types=domain.type_to_parent_types)
    mode = "csp" if core._check_domain_for_strips(domain) else "prolog"
    env = types.SimpleNamespace(domain=domain, _observation_space=space, _inference_mode=mode)
    try:
        return core.PDDLEnv._handle_derived_literals(env, state)
    except Exception as e:
        raise Cannot(f"pddlgym does not derive in it: {type(e).__name__} {e}")


def replay(domain_file, problem_file, lines):
    try:
        domain = parse(domain_file)
        problem = PDDLProblemParser(problem_file, domain.domain_name, domain.types, domain.predicates,
                                    domain.actions, domain.constants)
    except Exception as e:  # pddlgym reads fewer files than it ships
        raise Cannot(f"pddlgym does not read it: {type(e).__name__} {e}")
    derived = {p.name.lower() for p in domain.predicates.values() if getattr(p, "is_derived", False)}
    hidden = derived | {"="} | {p.name.lower() for p in action_predicates(domain)}
    objects = {o.name.lower(): o for o in list(problem.objects) + list(domain.constants or [])}
    state = State(frozenset(problem.initial_state), frozenset(problem.objects), problem.goal)
    steps = refused = 0
    for kind, rest in lines:
        if derived and kind != "S":
            state = derive(state, domain)
        if kind == "A":
            applicable, name, *args = rest.split()
            try:
                new = successor(state, name, [objects[a] for a in args], domain)
            except Exception as e:
                raise Cannot(f"pddlgym does not step it: {type(e).__name__} {e}")
            if (new is not None) != (applicable == "1"):
                raise SystemExit(f"{problem_file}: pddlgym says applicable={new is not None} of {rest} in\n" + "\n".join(shown(state, hidden)))
            if new is not None:
                state = new
                steps += 1
            else:
                refused += 1
        elif kind == "S":
            ours = sorted(f for f in rest.split(";") if f and f.split()[0] not in hidden)
            if ours != shown(state, hidden):
                theirs = shown(state, hidden)
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

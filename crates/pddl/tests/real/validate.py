"""Has unified-planning's validator check plans: triples of domain, problem and plan files. Prints `valid` or what is wrong."""
import sys

import unified_planning.engines
from unified_planning.engines import SequentialPlanValidator
from unified_planning.io import PDDLReader

for triple in zip(*[iter(sys.argv[1:])] * 3):
    domain, problem_file, plan_file = triple
    reader = PDDLReader()
    problem = reader.parse_problem(domain, problem_file)
    plan = reader.parse_plan(problem, plan_file)
    validator = SequentialPlanValidator()
    validator.skip_checks = True  # it knows costs of actions, but does not say so
    result = validator.validate(problem, plan)
    valid = result.status == unified_planning.engines.results.ValidationResultStatus.VALID
    print("valid" if valid else f"invalid: {plan_file}: {result}")

#!/usr/bin/env python3
"""Damages a certificate in many ways, and asks the checker about each: `mutate.py N CERTIFICATE DOMAIN POLICY [SHIELD]`.

Prints how many of the N were rejected, and those that were not. What is changed always makes the certificate say something else that
is not so: `largest` of a refutation is left alone, for a policy that fails in size 3 also fails in sizes up to 9.
"""

import copy
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check

LETTERS = '0123456789abcdefghijklmnopqrstuvwxyz_|"[]{},: -'


def accepted(language, text):
    try:
        lines = (json.loads(line, object_pairs_hook=check.once) for line in text.splitlines())
        check.judged(language, next(lines, None), lines)
        return True
    except (check.Rejected, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return False


def damaged(lines, rng):
    """Another certificate; None if what was drawn cannot be done to this one."""
    lines = copy.deepcopy(lines)
    header, refuted = lines[0], lines[0]["verdict"] == "refuted"
    kind = rng.randrange(12)
    if kind == 0:  # a character
        at = rng.randrange(1, len(lines))
        text = json.dumps(lines[at])
        place = rng.randrange(len(text))
        if text[place] == " " and text[place - 1] in ":,":
            return None  # white space between tokens
        new = text[:place] + rng.choice(LETTERS) + text[place + 1 :]
        all_lines = [json.dumps(line) for line in lines]
        all_lines[at] = new
        return "\n".join(all_lines)
    if kind == 1:  # what is claimed
        worlds = [w for w in check.WORLDS if w != header["world"]]
        verdicts = [v for v in ("proved", "proved-if-ties-are-random", "refuted") if v != header["verdict"]]
        changes = [("world", rng.choice(worlds)), ("verdict", rng.choice(verdicts)), ("certificate", 2)]
        if not refuted:
            changes.append(("largest", header["largest"] + rng.choice([-1, 1])))
        if "never_violated" in header:
            changes.append(("never_violated", not header["never_violated"]))
        key, value = rng.choice(changes)
        header[key] = value
    elif kind == 2:  # a line less, or twice, or elsewhere
        at = rng.randrange(len(lines))
        how = rng.randrange(3)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[at])
        else:
            lines = lines[: max(at, 1)]
    elif refuted:
        line = lines[1]
        which = rng.choice(["run", "trap"])
        states = line[which]
        if kind < 6 and states:
            del states[rng.randrange(len(states))]
        elif kind < 9:
            states.insert(rng.randrange(len(states) + 1), rng.choice(line["run"] + line["trap"] + ["nowhere"]))
        elif kind == 9 and states:
            states[rng.randrange(len(states))] = "nowhere"
        else:
            line["size"] += rng.choice([-1, 1])
    else:
        summaries = [line for line in lines[1:] if "size" in line]
        families = [line for line in lines[1:] if "family" in line and line["ranks"]]
        ranks = rng.choice(families)["ranks"]
        label = rng.choice(sorted(ranks))
        if kind in (3, 4):  # a rank
            ranks[label] += rng.choice([-2, -1, 1, 2, 100])
        elif kind == 5:  # a state less
            del ranks[label]
        elif kind == 6:  # a state more
            ranks[label + "x"] = ranks[label]
        elif kind == 7:  # the ranks of two states
            other = rng.choice(sorted(ranks))
            ranks[label], ranks[other] = ranks[other], ranks[label]
        elif kind == 8:  # a sum
            summary, key = rng.choice(summaries), rng.choice(["size", "families", "instances", "states", "longest"])
            summary[key] = str(int(summary[key]) + 1) if key == "instances" else summary[key] + rng.choice([-1, 1])
        elif kind == 9:  # the ranks of two families
            one, other = rng.choice(families), rng.choice(families)
            one["ranks"], other["ranks"] = other["ranks"], one["ranks"]
        elif kind == 10:  # all ranks
            for state in ranks:
                ranks[state] += 1
        else:  # a rank of another kind
            ranks[label] = rng.choice([str(ranks[label]), None, ranks[label] + 0.5, True, [ranks[label]], 0])
    return "\n".join(json.dumps(line) for line in lines)


def main():
    count, certificate, domain, policy, *shield = sys.argv[1:]
    language = check.Language(domain, policy, shield[0] if shield else None)
    decide, known = language.decide, {}

    def remembered(facts, universe):
        key = tuple(universe), tuple(sorted((name, tuple(sorted(tuples))) for name, tuples in facts.items()))
        if key not in known:
            known[key] = decide(facts, universe)
        return known[key]

    # The decisions are the same each time: only the certificates differ.
    language.decide = remembered
    lines = [json.loads(line) for line in check.read(certificate).splitlines()]
    assert accepted(language, "\n".join(json.dumps(line) for line in lines)), "the certificate itself is rejected"
    rng, whole, rejected = random.Random(0), [json.dumps(line) for line in lines], 0
    while rejected < int(count):
        text = damaged(lines, rng)
        if text is None or text.splitlines() == whole:
            continue
        if accepted(language, text):
            sys.exit(f"accepted: {text}")
        rejected += 1
    print(f"{rejected} rejected")


if __name__ == "__main__":
    main()

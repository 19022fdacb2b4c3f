#!/usr/bin/env python3
"""Checks a certificate of `derrl verify --certificate FILE`. Shares no code with derrl: Python 3.9 and nothing else.

    python3 checker/check.py CERTIFICATE --domain DOMAIN.pl --policy POLICY.pl [--shield SHIELD.pl]

It knows the worlds by their rules, lists every instance itself, and asks of every state that the policy can reach whether the
certificate gives it the right rank:

    proved                     1 + the largest rank of a state that may follow, however ties are broken
    proved-if-ties-are-random  1 + the smallest rank of a state that may follow

where reaching the goal has rank 0. So the rank of a start bounds the longest run from it, or says how many lucky choices lead to
the goal. For `refuted` it follows one run into a trap: states that the policy never leaves, none of them the goal.

Exit code 0: the certificate is true. 1: it is not. 2: something cannot be read.
"""

import argparse, itertools, json, math, re, sys
from collections import namedtuple


Unreadable = type("Unreadable", (Exception,), {})  # a text that this program does not understand
MOST = 1 << 28  # characters of a file that are read
Rejected = type("Rejected", (Exception,), {})  # a certificate that does not hold


# ---- The language -------------------------------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""\s+|%[^\n]*|/\*.*?\*/|(?P<quoted>'(?:[^'\\]|'')*')|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<name>\w+)
    |(?P<mark>::|:-|<-|←|\\\+|[(),/]|\.(?=\s|%|$))|(?P<unknown>.)""",
    re.VERBOSE | re.DOTALL,
)
Term = namedtuple("Term", "name args")  # a constant, an atom, or a signature
Literal = namedtuple("Literal", "positive name args")
Clause = namedtuple("Clause", "weight head body")


Var = type("Var", (str,), {})


class Parser:
    def __init__(self, text, file):
        self.file, self.at, self.fresh = file, 0, 0
        self.tokens = [(m.lastgroup, m.group()) for m in TOKEN.finditer(text) if m.lastgroup]
        for unknown in [text for kind, text in self.tokens if kind == "unknown"]:
            raise Unreadable(f"{file}: what does `{unknown}` mean?")

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "the end")

    def accept(self, *marks):
        found = self.peek()[0] == "mark" and self.peek()[1] in marks
        self.at += found
        return found

    def expect(self, *marks):
        if not self.accept(*marks):
            raise Unreadable(f"{self.file}: expected `{marks[0]}`, found `{self.peek()[1]}`")

    def many(self, one):
        """What is separated by commas."""
        found = [one()]
        while self.accept(","):
            found.append(one())
        return found

    def term(self):
        kind, text = self.peek()
        self.at += 1
        if kind == "number":
            return Term(str(int(text)) if "." not in text else text, ())
        if kind == "name" and (text[0] == "_" or text[0].isupper()):
            self.fresh += 1
            return Var(f"_{self.fresh}" if text == "_" else text)
        if kind not in ("name", "quoted"):
            raise Unreadable(f"{self.file}: expected a name, found `{text}`")
        name, args = text[1:-1].replace("''", "'") if kind == "quoted" else text, []
        if self.accept("/"):
            return Term(name, (Term("any", ()),) * int(self.term().name))
        if self.accept("("):
            args = self.many(self.term)
            self.expect(")")
        return Term(name, tuple(args))

    def literal(self):
        positive = not self.accept("\\+")
        inner, term = not positive and self.accept("("), self.term()
        inner and self.expect(")")
        if isinstance(term, Var):
            raise Unreadable(f"{self.file}: `{term}` is no atom")
        return Literal(positive, term.name, term.args)

    def sentences(self):
        """Directives as terms, everything else as clauses."""
        while self.at < len(self.tokens):
            if self.accept(":-"):
                yield self.term()
            else:
                weight = float(self.term().name) if self.peek()[0] == "number" else None
                weight is None or self.expect("::")
                weight, head = 1.0 if weight is None else weight, self.term()
                yield Clause(weight, head, self.many(self.literal) if self.accept(":-", "<-", "←") else [])
            self.expect(".")


class Language:
    """A domain, with the definitions and rules of a policy, and with rules that forbid."""

    def __init__(self, domain, policy, shield):
        self.world, self.above, self.actions, self.rules, self.never = None, {}, {}, [], []
        self.derived, self.types_of, self.legal = {}, {}, set()
        texts = [(file, list(Parser(read(file), file).sentences())) for file in (domain, policy, shield) if file]
        for term in [s for _, sentences in texts for s in sentences if isinstance(s, Term)]:
            self.declare(term)
        for place, (file, sentences) in enumerate(texts):
            for clause in [s for s in sentences if isinstance(s, Clause)]:
                self.clause(clause, file, of_policy=place == 1)
        # The strongest rules first; those without a body, or of no value, never fire.
        self.rules = sorted((r for r in self.rules if r.body and r.weight > 0), key=lambda r: -r.weight)
        self.strata = self.stratified()

    def declare(self, term):
        name, args = term
        if name == "action" and args and any(isinstance(t, Var) for t in args[0].args):
            raise Unreadable(f"`{args[0].name}` may be taken with equal arguments, which this checker does not know")
        types = [t.name for t in args[0].args] if args and isinstance(args[0], Term) else []
        if name == "environment":
            self.world = args[0].name
        elif name == "subtype":
            self.above.setdefault(args[0].name, set()).add(args[1].name)
        elif name == "action":
            self.actions[args[0].name] = types
        elif name == "derived":
            self.derived.setdefault(args[0].name, [])
            self.types_of[args[0].name] = types
        elif name in ("closure", "distance"):
            self.derived.setdefault(args[0].name, []).append((name, [t.name for t in args[1:]]))
        elif name == "legal":
            self.legal.add(args[0].name)

    def clause(self, clause, file, of_policy):
        head = clause.head
        if head.name == "never" and len(head.args) == 1 and (clause.body or head.args[0].args):
            self.never.append(Clause(1.0, head.args[0], clause.body))
        elif head.name in self.derived:
            self.derived[head.name].append(clause)
        elif head.name in self.actions and of_policy:
            self.rules.append(clause)
        elif head.name in self.legal:
            self.derived.setdefault("legal " + head.name, []).append(clause)
            self.types_of["legal " + head.name] = self.actions[head.name]
        elif of_policy:
            raise Unreadable(f"{file}: `{head.name}` is neither an action nor a derived predicate")
        # What is left in a domain file are constraints on learning: they say nothing about acting.

    def stratified(self):
        """The derived predicates, in groups that can be evaluated one after the other."""
        level, needs = dict.fromkeys(self.derived, 0), []
        for name, d in [(name, d) for name, definitions in self.derived.items() for d in definitions]:
            of = [(l.name, not l.positive) for l in d.body] if isinstance(d, Clause) else [(p, True) for p in d[1]]
            needs += [(name, other, strictly) for other, strictly in of if other in level]
        for _ in range(len(level) + 1):
            before = dict(level)
            for name, other, strictly in needs:
                level[name] = max(level[name], level[other] + strictly)
            if level == before:
                return [[n for n in level if level[n] == i] for i in sorted(set(level.values()))]
        raise Unreadable("a predicate depends on its own negation")

    def constants(self):
        clauses = self.rules + self.never + [d for ds in self.derived.values() for d in ds if isinstance(d, Clause)]
        terms = itertools.chain.from_iterable(c.head.args + tuple(a for l in c.body for a in l.args) for c in clauses)
        return {t.name for t in terms if not isinstance(t, Var)}

    def is_a(self, kind, wanted):
        return kind == wanted or wanted == "any" or any(self.is_a(k, wanted) for k in self.above.get(kind, ()))

    def derive(self, facts, universe):
        for group in self.strata:
            facts.update({name: set() for name in group})
            grown = True
            while grown:
                grown = False
                for name, d in [(name, d) for name in group for d in self.derived[name]]:
                    if isinstance(d, Clause):
                        new = set(self.heads(d, self.types_of[name], facts, universe))
                    else:
                        new = (closure if d[0] == "closure" else distance)(*(facts.get(p, ()) for p in d[1]))
                    grown |= not new <= facts[name]
                    facts[name] |= new

    def heads(self, clause, types, facts, universe):
        """The heads that a clause derives. Distinct variables, and constants of the clause, stand for distinct objects."""
        args, body = clause.head.args, clause.body
        named = {a.name for a in itertools.chain(args, *(l.args for l in body)) if not isinstance(a, Var)}
        if len(args) != len(types):
            raise Unreadable(f"`{clause.head.name}` has {len(types)} arguments, not {len(args)}")
        free, negative = [o for o in universe if o not in named], [l for l in body if not l.positive]
        for phi in matches([l for l in body if l.positive], 0, {}, facts, named):
            choices = [[a.name] if not isinstance(a, Var) else [phi[a]] if a in phi else free for a in args]
            for head in itertools.product(*choices):
                full = {**phi, **{a: o for a, o in zip(args, head) if isinstance(a, Var)}}
                typed = all(o in universe and self.is_a(universe[o], t) for o, t in zip(head, types))
                if typed and len(set(full.values())) == len(full) and ground(args, full) == head:
                    if all(ground(l.args, full) not in facts.get(l.name, ()) for l in negative):
                        yield head

    def derived_actions(self, rules, facts, universe):
        heads = [(r.head.name, self.heads(r, self.actions[r.head.name], facts, universe)) for r in rules]
        return {(name, args) for name, all_args in heads for args in all_args if len(set(args)) == len(args)}

    def decide(self, facts, universe):
        """All actions that may be taken, and whether everything is forbidden."""
        self.derive(facts, universe)
        every, forced = self.all_actions(facts, universe, self.legal) if self.never or self.legal else None, False
        if self.never:
            every, forced = self.allowed(every, facts, universe)
        for _, rules in itertools.groupby(self.rules, key=lambda r: r.weight):
            ties = self.derived_actions(rules, facts, universe)
            ties = ties if every is None else ties & every
            if ties:
                return ties, forced
        return every or self.all_actions(facts, universe, set()), forced

    def all_actions(self, facts, universe, legal):
        found = {(name, args) for name in legal for args in facts["legal " + name]}
        for name in self.actions.keys() - legal:
            kinds = [[o for o in universe if self.is_a(universe[o], t)] for t in self.actions[name]]
            found |= {(name, args) for args in itertools.product(*kinds) if len(set(args)) == len(args)}
        return found

    def allowed(self, actions, facts, universe):
        """The actions that are not forbidden; where all are, the least bad, by the rules in their order."""
        against = [self.derived_actions([rule], facts, universe) for rule in self.never]
        bad = {a: [i for i, forbidden in enumerate(against) if a in forbidden] for a in actions}
        free = {a for a in actions if not bad[a]}
        if free or not actions:
            return free, False
        least = min((-rules[0], len(rules)) for rules in bad.values())
        return {a for a, rules in bad.items() if (-rules[0], len(rules)) == least}, True


def ground(args, phi):
    return tuple(phi[a] if isinstance(a, Var) else a.name for a in args)


def matches(literals, at, phi, facts, named):
    if at == len(literals):
        yield phi
        return
    for fact in facts.get(literals[at].name, ()):
        new = dict(phi)
        for arg, o in zip(literals[at].args, fact):
            if isinstance(arg, Var) and arg not in new and o not in named and o not in new.values():
                new[arg] = o
            elif (new.get(arg) if isinstance(arg, Var) else arg.name) != o:
                break
        else:
            yield from matches(literals, at + 1, new, facts, named)


def halves(steps):
    return [(fact[: len(fact) // 2], fact[len(fact) // 2 :]) for fact in steps]


def closure(steps):
    links = halves(steps)
    reach, last = set(links), None
    while reach != last:
        last, reach = reach, reach | {(x, z) for x, y in reach for w, z in links if w == y}
    return {x + y for x, y in reach if x != y}


def distance(steps, goals=None):
    links = halves(steps)

    def nearer(targets):
        far, layer, steps = {}, set(targets), 0
        while layer:
            far.update(dict.fromkeys(layer, steps))
            layer, steps = {x for x, y in links if y in layer and x not in far}, steps + 1
        return {x + y for x, y in links if y in far and far[y] < far.get(x, math.inf)}

    if goals is not None:
        return nearer(goals)
    return {step + z for z in {node for link in links for node in link} for step in nearer([z])}


# ---- The worlds ---------------------------------------------------------------------------------------------------------
# A world lists for each size its families: instances that have their objects and their background in common. A family has a
# name, objects, starts (a state, and how many instances it stands for), facts, steps, and a label for every state.

REACHED, LOST = "reached", "lost"


class Towers:
    """Blocks in towers. A state is its stacks, each from the bottom up, sorted. What a policy does not name is alike to it: such
    blocks are all called `_`."""

    def __init__(self, n, name, goal, count, anonymous=False):
        self.n, self.name, self.goal, self.count, self.anonymous = n, name, goal, count, anonymous
        self.universe = {**dict.fromkeys(letters(n), "block"), "floor": "place"}

    def named(self, state):
        fresh = iter(letters(self.n)[2:])
        return [[next(fresh) if b == "_" else b for b in stack] for stack in state]

    def canonical(self, stacks):
        if self.anonymous:
            stacks = [[b if b in "ab" else "_" for b in stack] for stack in stacks]
        return tuple(sorted(tuple(stack) for stack in stacks if stack))

    def label(self, state):
        return "|".join(sorted(" ".join(stack) for stack in state))

    def facts(self, state):
        tops = {(stack[-1],) for stack in self.named(state)}
        return {"on": on(self.named(state)), "top": tops, "isFloor": {("floor",)}, "goal_on": set(self.goal)}

    def step(self, state, _action, args):
        stacks, (x, y) = self.named(state) + [[]], args
        tops = {stack[-1] if stack else "floor": stack for stack in stacks}
        if x == "floor" or x not in tops or y not in tops:
            return state
        tops[y].append(tops[x].pop())
        return REACHED if self.achieved(stacks) else self.canonical(stacks)

    def achieved(self, stacks):
        return set(self.goal) <= on(stacks)

    def starts(self):
        for state in arrangements(["a", "b"] + ["_"] * (self.n - 2) if self.anonymous else letters(self.n)):
            if not self.achieved(self.named(state)):
                yield state, self.count(state)


def on(stacks):
    return {pair for stack in stacks for pair in zip(stack, ["floor"] + stack)}


def letters(n):
    return [chr(ord("a") + i) for i in range(n)]


def arrangements(blocks):
    """Every way to arrange blocks in stacks, by putting in one after the other, anywhere."""
    found = {()}
    for b in blocks:
        more = {tuple(sorted(stacks + ((b,),))) for stacks in found}
        for stacks in found:
            for i, at in [(i, at) for i, stack in enumerate(stacks) for at in range(len(stack) + 1)]:
                grown = stacks[i][:at] + (b,) + stacks[i][at:]
                more.add(tuple(sorted(stacks[:i] + (grown,) + stacks[i + 1 :])))
        found = more
    return found


def blocks(n, header, alike):
    def ways(state):
        """Ways to name the blocks other than those of the goal, times the goals there are."""
        plain = [s for s in state if set(s) == {"_"}]
        same = math.prod(math.factorial(plain.count(s)) for s in set(plain))
        return n * (n - 1) * math.factorial(n - 2) // same

    for x, y in [("a", "b")] if alike else itertools.permutations(letters(n), 2):
        yield Towers(n, f"{n} blocks, goal_on({x}, {y})", [(x, y)], ways if alike else lambda _: 1, alike)


def rearrange(n, header, alike):
    goals = {}
    for state in arrangements(["_"] * n) if alike else arrangements(letters(n)):
        fresh = iter(letters(n))
        stacks = [[next(fresh) if b == "_" else b for b in stack] for stack in sorted(state, key=len, reverse=True)]
        heights = [len(s) for s in stacks]
        same = math.prod(math.factorial(heights.count(h)) for h in set(heights))
        goals["|".join(sorted(" ".join(s) for s in stacks))] = (stacks, math.factorial(n) // same if alike else 1)
    for name, (stacks, count) in goals.items():
        yield Towers(n, name, on(stacks), lambda _, count=count: count)


class Pairs:
    """Worlds in which a state is two numbers."""

    def label(self, state):
        return f"{state[0]} {state[1]}"


class Game(Pairs):
    """Countdown. A state is how many numbers were taken, and what has been accumulated."""

    NUMBERS = range(-4, 7)

    def __init__(self, stack, goal):
        self.stack, self.goal = stack, goal
        self.name = f"stack {', '.join(map(str, stack))} (top first), goal({goal})"
        self.universe = {str(n): "number" for n in self.NUMBERS}
        self.less = {(str(x), str(y)) for x in self.NUMBERS for y in self.NUMBERS if x < y}

    def starts(self):
        sums = set(itertools.accumulate(self.stack))
        return [((0, acc), 1) for acc in self.NUMBERS if abs(self.goal - acc) in sums]

    def facts(self, state):
        rest = [str(n) for n in self.stack[state[0] :]]
        return {
            "curr": {(rest[0],)}, "last": {(rest[-1],)}, "next": {tuple(rest[:2])} if len(rest) > 1 else set(),
            "acc": {(str(state[1]),)}, "goal": {(str(self.goal),)}, "less": self.less,
        }  # fmt: skip

    def step(self, state, action, _args):
        taken, acc = state
        acc += {"add": 1, "sub": -1, "null": 0}[action] * self.stack[taken]
        acc = min(max(acc, self.NUMBERS[0]), self.NUMBERS[-1])
        if taken + 1 < len(self.stack):
            return taken + 1, acc
        return REACHED if acc == self.goal else LOST


def countdown(n, header, alike):
    return (Game(stack, goal) for stack in itertools.product((1, 2, 3), repeat=n) for goal in Game.NUMBERS)


class Maze(Pairs):
    """Gridworld. A state is the agent's cell."""

    MOVES = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}

    def __init__(self, n, blocked, target):
        self.n, self.blocked, self.target = n, blocked, target
        target, *blocked = [f"(x{x}, y{y})" for x, y in (target, *blocked)]
        obstacles = "obstacles " + " ".join(blocked) if blocked else "no obstacles"
        self.name = f"{n}x{n} cells, target {target}, {obstacles}"
        self.universe = {f"{axis}{i}": axis for axis in "xy" for i in range(n)}

    def moved(self, cell, move):
        x, y = cell[0] + move[0], cell[1] + move[1]
        return (x, y) if 0 <= x < self.n and 0 <= y < self.n and (x, y) not in self.blocked else cell

    def starts(self):
        """Cells from which the target can be reached within the horizon: moves can be undone."""
        far, layer = {self.target: 0}, [self.target]
        for d in range(1, 4 * self.n + 1):
            layer = {self.moved(cell, move) for cell in layer for move in self.MOVES.values()} - set(far)
            far.update(dict.fromkeys(layer, d))
        return [(cell, 1) for cell in far if cell != self.target]

    def facts(self, state):
        cell = lambda c: (f"x{c[0]}", f"y{c[1]}")
        (x, y), (to_x, to_y) = state, self.target
        halves = {"": True, "north": y < to_y, "south": y > to_y}, {"": True, "east": x < to_x, "west": x > to_x}
        compass = {a + b: {()} for a in halves[0] for b in halves[1] if halves[0][a] and halves[1][b]}
        succ = {(f"{axis}{i}", f"{axis}{i + 1}") for axis in "xy" for i in range(self.n - 1)}
        here, target, obs = {cell(state)}, {cell(self.target)}, {cell(c) for c in self.blocked}
        return {**compass, "curr": here, "target": target, "obs": obs, "succ": succ}

    def step(self, state, action, _args):
        after = self.moved(state, self.MOVES[action])
        return REACHED if after == self.target else after


def gridworld(n, header, alike):
    cells = list(itertools.product(range(n), repeat=2))
    for k in range(min(header["obstacles"], len(cells) - 2) + 1):
        for blocked in itertools.combinations(cells, k):
            yield from (Maze(n, blocked, target) for target in cells if target not in blocked)


class Rooms:
    """DoorKey. Door i leads from room `parents[i]` to room i + 1, key i lies in room `lies[i]`, and the goal in the last room. A
    state is the locked doors and the key in hand."""

    def __init__(self, parents, lies):
        self.parents, self.lies = parents, lies
        self.name = f"rooms {' '.join(map(str, parents))}, keys {' '.join(map(str, lies))}"
        self.keys, self.doors = range(len(lies)), range(len(parents))
        self.universe = {**{f"k{k}": "key" for k in self.keys}, **{f"d{d}": "door" for d in self.doors}, "goal": "goal"}

    def starts(self):
        return [((frozenset(self.doors), None), 1)]

    def label(self, state):
        return f"locked {' '.join(map(str, sorted(state[0])))}, hand {'-' if state[1] is None else state[1]}"

    def facts(self, state):
        locked, hand = state
        pairs = [(f"k{i}", f"d{i}") for i in self.doors]
        return {
            ("notcarrying" if hand is None else "carrying"): {() if hand is None else (f"k{hand}",)},
            ("locked" if locked else "unlocked"): {(f"d{d}",) for d in locked} or {()},
            "key": {(f"k{k}",) for k in self.keys}, "door": {(f"d{d}",) for d in self.doors}, "goal": {("goal",)},
            "samecolor": {*pairs, *((d, k) for k, d in pairs)},
        }  # fmt: skip

    def step(self, state, action, args):
        (locked, hand), thing = state, args[0]
        within = {0}
        for d in self.doors:  # rooms are numbered after those they are reached from
            if d not in locked and self.parents[d] in within:
                within.add(d + 1)
        number = int(thing[1:]) if thing != "goal" else None
        if action == "goto" and thing == "goal" and len(self.doors) in within:
            return REACHED
        if action == "pick" and thing[0] == "k" and self.lies[number] in within:
            return (locked, number) if number in locked or number not in self.doors else state
        if action == "open" and thing[0] == "d" and number in locked and hand == number:
            return (locked - {number}, None) if self.parents[number] in within or number + 1 in within else state
        return state


def doorkey(size, header, alike):
    for keys, doors in [(size - d, d) for d in range(1, 6) if d <= size - d <= 6]:
        columns, rows = (2, 1) if doors == 1 else (2, 2) if doors <= 3 else (3, 2)
        slots = list(itertools.product(range(columns), range(rows)))
        trees = {((), (start,)) for start in slots}
        for _ in range(doors):
            trees = {
                (parents + (p,), taken + (slot,))
                for parents, taken in trees for p, (x, y) in enumerate(taken) for slot in slots
                if slot not in taken and abs(slot[0] - x) + abs(slot[1] - y) == 1
            }  # fmt: skip
        for parents in sorted({parents for parents, _ in trees}):
            def beyond(room, other):
                return room == other or room > other and beyond(parents[room - 1], other)

            # A key lies in a room that is there before its door, and not before the room that the door leads out of.
            where = [[r for r in range(d + 1) if beyond(r, parents[d])] for d in range(doors)]
            where += [list(range(doors + 1))] * (keys - doors)
            yield from (Rooms(parents, lies) for lies in itertools.product(*where))


WORLDS = {
    "blocks": (blocks, range(2, 26), lambda n: set(letters(n))),
    "rearrange": (rearrange, range(2, 9), lambda n: set(letters(n))),
    "countdown": (countdown, range(1, 31), lambda n: set()),
    "gridworld": (gridworld, range(2, 101), lambda n: set()),
    "doorkey": (doorkey, range(2, 12), lambda n: {f"{k}{i}" for k in "kd" for i in range(1, n + 1)}),
}  # fmt: skip


# ---- The certificate ----------------------------------------------------------------------------------------------------


def check(condition, message):
    if not condition:
        raise Rejected(message)


def read(file):
    with open(file, encoding="utf-8", errors="replace") as f:
        text = f.read(MOST + 1)
    if len(text) > MOST:
        raise Unreadable(f"{file}: it has more than {MOST} characters")
    return text


def once(pairs):
    check(len(dict(pairs)) == len(pairs), "the same is said twice")
    return dict(pairs)


def graph(family, language, states):
    """From these states on: what may follow each, and whether all that can be done somewhere is forbidden."""
    after, forced, todo = {}, False, list(states)
    while todo:
        state = todo.pop()
        if state in after:
            continue
        choices, helpless = language.decide(family.facts(state), family.universe)
        forced |= helpless
        after[state] = {family.step(state, action, args) for action, args in choices}
        todo.extend(s for s in after[state] if s not in (REACHED, LOST))
    return after, forced


def check_ranks(family, language, ranks, verdict):
    """Every rank is right. Returns what the summary of the size has to say."""
    starts = list(family.starts())
    after, forced = graph(family, language, (s for s, _ in starts))
    label = {s: family.label(s) for s in after}
    check(set(label.values()) == set(ranks), f"{family.name}: other states can be reached")
    check(all(type(r) is int and r > 0 for r in ranks.values()), f"{family.name}: a rank is no number above 0")
    rank = {s: ranks[label[s]] for s in after}
    rank[REACHED] = 0
    strict, farthest = True, max if verdict == "proved" else min
    for state, following in after.items():
        known = [rank[f] for f in following if f in rank]
        where = f"{family.name}, {label[state]}"
        check(known and len(known) == len(following), f"{where}: some choice leads to an end that is not the goal")
        check(rank[state] == 1 + farthest(known), f"{where}: the rank is wrong, or some choice comes no nearer")
        strict &= rank[state] == 1 + max(known)
    instances = sum(count for _, count in starts)
    return instances, len(after), max((rank[s] for s, _ in starts), default=0), forced, strict


def check_run(family, language, run, trap):
    """A run from a start into a trap, or to an end that is not the goal."""
    known = {family.label(s): s for s, _ in family.starts()}
    check(len({*run, *trap}) == len(run) + len(trap), "a state comes twice")
    for label in run + trap[:1]:
        check(label in known, f"{family.name}: the policy does not come to {label} so")
        after, _ = graph(family, language, [known[label]])
        following = after[known[label]]
        known = {family.label(s): s for s in following - {REACHED, LOST}}
    if not trap:
        return check(run and LOST in following, "the run does not end badly")
    check({family.label(s) for s in after} == set(trap), "the trap is not what can be reached from its entry")
    check(not any(REACHED in following for following in after.values()), "the trap has a way to the goal")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("certificate", "--domain", "--policy", "--shield"):
        options.add_argument(name, **({"required": True} if name in ("--domain", "--policy") else {}))
    options = options.parse_args()
    language = Language(options.domain, options.policy, options.shield)
    given = (json.loads(line, object_pairs_hook=once) for line in read(options.certificate).splitlines())
    print("yes: " + judged(language, next(given, None), given))


def judged(language, header, given):
    check([header["certificate"], header["world"]] == [1, language.world], "it is for another world, or of another version")
    families, range_of_sizes, names = WORLDS[language.world]
    largest, verdict = header["largest"], header["verdict"]
    check(largest in range_of_sizes, "there is no such size")
    check((language.world == "gridworld") == ("obstacles" in header), "obstacles are for gridworld")
    named = language.constants() & names(largest)
    alike = header["every_state"] is False and not named
    check(not named or language.world != "doorkey", "keys and doors have no names in this world")
    if verdict == "refuted":
        line = next(given, {})
        check(next(given, None) is None and line["size"] in range(range_of_sizes[0], largest + 1), "there is no such size")
        check("never_violated" not in header, "a refutation says nothing of the shield")
        family = next((f for f in families(line["size"], header, alike) if f.name == line["family"]), None)
        check(family, "there is no such family")
        check_run(family, language, line["run"], line["trap"])
        return f"the policy does not reach the goal in {language.world}, from a start of {family.name}"
    total, never_forced, strict = 0, True, True
    for size in range(range_of_sizes[0], largest + 1):
        sums, summary = [0, 0, 0], next(given, None)
        pairs = [(line["family"], line["ranks"]) for line in itertools.islice(given, summary["families"])]
        ranks = once(pairs)
        for family in families(size, header, alike):
            check(family.name in ranks, f"{family.name} is missing")
            found = check_ranks(family, language, ranks.pop(family.name), verdict)
            sums = [sums[0] + found[0], sums[1] + found[1], max(sums[2], found[2])]
            never_forced, strict = never_forced and not found[3], strict and found[4]
        check(not ranks, f"there is no {next(iter(ranks), None)}")
        said = {"size": size, "families": len(pairs), "instances": str(sums[0]), "states": sums[1], "longest": sums[2]}
        check(summary == said, f"size {size}: the sums are wrong")
        total += sums[0]
    check(next(given, None) is None and strict == (verdict == "proved"), "there is more than it says")
    check(header.get("never_violated") == (never_forced if language.never else None), "what it says of the shield is wrong")
    ties = {"proved": "however ties are broken", "proved-if-ties-are-random": "with probability 1 if ties are random"}[verdict]
    shield = ", and never does what is forbidden" if language.never and never_forced else ""
    return f"the policy reaches the goal {ties} in all {total:,} instances of {language.world} up to size {largest}{shield}"


if __name__ == "__main__":
    try:
        main()
    except (Unreadable, OSError) as reason:
        print(f"cannot be read: {reason}", file=sys.stderr)
        sys.exit(2)
    except Rejected as reason:
        sys.exit(f"no: {reason}")
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        sys.exit(f"no: it does not have the form of a certificate ({type(error).__name__}: {error})")



# From here on: what operates the lights of a SUMO scenario by these rules.
#
#   python3 THIS_FILE my.sumocfg [--gui] [--library POLICY.so] [options of SUMO]
#
# It needs the Python package `libsumo`, or SUMO with SUMO_HOME set (then it uses TraCI, and --gui shows a window).
# --library lets the same policy decide that was exported to C: cc -shared -fPIC -o POLICY.so policy.c
# What is safe is kept here as `derrl` keeps it: yellow, minimum green, crossings that clear, and clearance of the junction.

import ctypes
import os
import re
import sys
import tempfile

EVERY, YELLOW, LEAST_GREEN, CLEARANCE, HELD_UP = 5, 3, 7, 10, 3.0
RANGE, NEAR, SOON, STANDING, FULL, NEIGHBOURHOOD = 200.0, 60.0, 3.0, 0.1, 0.75, 1000.0
HEADWAY, GIVING_WAY, START, PACE, SLOWEST, HOLD, SWITCHED = 2.0, 4.0, 1.0, 10.0, 3.0, 8.0, 10.0


def goes(letter):
    return letter in "Gg"


def edge_of(lane):
    return lane.rsplit("_", 1)[0]


class Light:
    """A traffic light: its phases, its links, and what it shows."""

    def __init__(self, sumo, name, now):
        self.sumo, self.name = sumo, name
        self.program = program(sumo, name)
        self.links = [self.link(ways) if ways else None for ways in sumo.trafficlight.getControlledLinks(name)]
        self.links += [None] * (len(self.program[0][0]) - len(self.links))
        states = []
        for state, _ in self.program:
            if any(map(goes, state)) and not set(state) & set("yYu") and state not in states:
                states.append(state)
        self.protected = [any(state[i] == "G" for state in states) for i in range(len(self.links))]
        # A phase that differs from another only in crossings that have red lets them clear: it is no choice.
        clearing = [s for s in states if any(self.clears(s, other) for other in states)]
        self.walks_clear = int(min(60, -(-max([d for s, d in self.program if s in clearing], default=0) // 1)))
        self.phases = [state for state in states if state not in clearing]
        self.leads = [set() for _ in self.phases]
        self.phase, self.since, self.next, self.then = 0, now, None, None
        self.last = [now] * len(self.phases)
        self.coming = []
        if len(self.phases) > 1:
            self.show(self.phases[0])

    def link(self, ways):
        inside = []
        for _, _, via in ways:
            while via and via not in inside:
                inside.append(via)
                via = next((link[4] for link in self.sumo.lane.getLinks(via) if link[4]), "")
        return {"from": ways[0][0], "to": ways[0][1], "inside": inside, "walks": ways[0][0].startswith(":")}

    def clears(self, state, other):
        def stops(i):
            a, b = state[i], other[i]
            return a == b or (not goes(a) and goes(b) and self.links[i] and self.links[i]["walks"])
        return state != other and all(stops(i) for i in range(len(state)))

    def show(self, state):
        self.sumo.trafficlight.setRedYellowGreenState(self.name, state)

    def green(self, phase):
        """The links that a phase lets go, each with what a vehicle on it counts."""
        for i, letter in enumerate(self.phases[phase]):
            if goes(letter) and self.links[i]:
                yield i, 0.5 if letter == "g" and self.protected[i] else 1.0

    def between(self, old, new):
        """What is shown on the way from a phase to another; None where nothing loses its green."""
        def letter(i, a, b):
            loses = goes(a) and b in "rs"
            return a if not loses else "r" if self.links[i] and self.links[i]["walks"] else "y"
        state = "".join(letter(i, a, b) for i, (a, b) in enumerate(zip(self.phases[old], self.phases[new])))
        return None if state == self.phases[old] else state

    def walks_stop(self, old, new):
        def letter(i, a):
            return "r" if self.links[i] and self.links[i]["walks"] and not goes(self.phases[new][i]) else a
        state = "".join(letter(i, a) for i, a in enumerate(self.phases[old]))
        return state if self.walks_clear and state != self.phases[old] else None

    def may_decide(self, now):
        return len(self.phases) > 1 and self.next is None and now - self.since >= LEAST_GREEN

    def switch(self, phase, now):
        if phase == self.phase:
            return
        self.last[self.phase] = now
        state = self.between(self.phase, phase)
        if state is None:
            self.go(phase, now)
            return
        yellow, before = now, self.walks_stop(self.phase, phase)
        if before:
            yellow += self.walks_clear
            self.then = (yellow, state)
        self.show(before or state)
        self.next = (phase, yellow + YELLOW)

    def go(self, phase, now):
        self.phase, self.since, self.next = phase, now, None
        self.show(self.phases[phase])

    def change(self, now):
        """Goes on to yellow or green where it is time, unless somebody stands in the way."""
        if self.then and now >= self.then[0]:
            self.show(self.then[1])
            self.then = None
        if self.next is None or now < self.next[1]:
            return
        phase, due = self.next
        if now < due + CLEARANCE and self.occupied(phase):
            if now == due:
                self.show(self.between(self.phase, phase).replace("y", "r"))
            return
        self.go(phase, now)

    def occupied(self, phase):
        lane, vehicle = self.sumo.lane, self.sumo.vehicle
        lanes = [via for i, _ in self.green(self.phase) if not goes(self.phases[phase][i]) for via in self.links[i]["inside"]]
        return any(vehicle.getSpeed(v) < HELD_UP for via in lanes for v in lane.getLastStepVehicleIDs(via))

    # What the rules speak of.

    def count(self, phase, holds):
        return sum(weight * sum(map(holds, self.coming[i])) for i, weight in self.green(phase))

    def red_for(self, phase, now):
        return 0.0 if phase == self.phase else float(now - self.last[phase])

    def max_wait(self, phase, now):
        longest = 0.0
        for i, _ in self.green(phase):
            if self.links[i]["walks"]:
                with_green = [p for p, state in enumerate(self.phases) if goes(state[i])]
                longest = max(longest, min(self.red_for(p, now) for p in with_green))
            else:
                longest = max([longest] + [waiting for _, _, waiting in self.coming[i]])
        return longest

    def full(self, i, seen):
        return self.links[i]["to"] in seen["full"]

    def blocked(self, phase, seen):
        counts = [(len(self.coming[i]), self.full(i, seen)) for i, _ in self.green(phase)]
        total = sum(n for n, _ in counts)
        return sum(n for n, full in counts if full) / total if total else 0.0

    def flow(self, phase, seen):
        """The best mean rate at which vehicles would cross: the largest of k divided by the time of the k-th."""
        letters, current = self.phases[phase], self.phases[self.phase]
        lost = YELLOW if self.between(self.phase, phase) else 0
        lanes, crossings = {}, []
        for i, coming in enumerate(self.coming):
            if coming and self.links[i]:
                lanes.setdefault(self.links[i]["from"], []).extend((d, speed, i) for d, speed, _ in coming)
        for lane, queue in lanes.items():
            before = None
            for distance, speed, i in sorted(queue):
                if not goes(letters[i]) or self.full(i, seen):
                    if distance <= self.sumo.lane.getLength(lane):
                        break  # it holds up those behind it
                    continue
                has_green = goes(current[i])
                if speed < STANDING or not has_green:
                    at = (0 if has_green else lost) + START + distance / PACE
                else:
                    at = distance / max(speed, SLOWEST)
                if before is not None:
                    at = max(at, before + (HEADWAY if letters[i] == "G" else GIVING_WAY))
                before = at
                crossings.append((at, 1.0 if letters[i] == "G" or not self.protected[i] else 0.5))
        least = HOLD if phase == self.phase else SWITCHED
        crossed, best = 0.0, 0.0
        for at, weight in sorted(crossings):
            crossed += weight
            best = max(best, crossed / max(at, least))
        return best

    def facts(self, lights, seen, now):
        yield ("current", f"p{self.phase + 1}")
        yield ("green_for", float(now - self.since))
        standing = seen["standing"]
        for p in range(len(self.phases)):
            name = f"p{p + 1}"
            inside = sum(standing.get(via, 0) for i, _ in self.green(p) for via in self.links[i]["inside"])
            for measure, number in [
                ("queue", self.count(p, lambda v: v[1] < STANDING)),
                ("near", self.count(p, lambda v: v[0] < NEAR)),
                ("arriving", self.count(p, lambda v: v[0] < SOON * max(v[1], SLOWEST))),
                ("inside", float(inside)),
                ("flow", self.flow(p, seen)),
                ("blocked", self.blocked(p, seen)),
                ("max_wait", self.max_wait(p, now)),
                ("red_for", self.red_for(p, now)),
            ]:
                yield (measure, name, round(float(number), 3))
            for other in self.leads[p]:
                yield ("leads", name, f"light_{other}")
        for other in sorted(set().union(*self.leads)):
            waiting = sum(v[1] < STANDING for coming in lights[other].coming for v in coming)
            yield ("standing", f"light_{other}", float(waiting))

    def objects(self):
        phases = [(f"p{p + 1}", "phase") for p in range(len(self.phases))]
        return phases + [(f"light_{other}", "light") for other in sorted(set().union(*self.leads))]


def program(sumo, name):
    """The program that a light begins with, without the trail that libsumo and TraCI name differently."""
    running = sumo.trafficlight.getProgram(name)
    logics = sumo.trafficlight.getAllProgramLogics(name)
    logic = next((l for l in logics if l.programID == running), logics[0])
    return [(phase.state, phase.duration) for phase in logic.phases]


def connect(sumo, lights):
    """Which lights each phase sends vehicles to: the next ones along the roads behind the junction."""
    following, length, at_end = {}, {}, {}
    for lane in sumo.lane.getIDList():
        length[edge_of(lane)] = sumo.lane.getLength(lane)
        if not lane.startswith(":"):
            following.setdefault(edge_of(lane), set()).update(edge_of(link[0]) for link in sumo.lane.getLinks(lane))
    for light in lights.values():
        at_end.update((edge_of(l["from"]), light.name) for l in light.links if l and not l["walks"])
    for light in lights.values():
        for p in range(len(light.phases)):
            links = [light.links[i] for i, _ in light.green(p)]
            ahead = [(edge_of(l["to"]), 0.0) for l in links if not l["walks"]]
            seen = set()
            while ahead:
                edge, far = ahead.pop()
                if edge in seen:
                    continue
                seen.add(edge)
                if edge in at_end:
                    light.leads[p] |= {at_end[edge]} - {light.name}
                elif far + length.get(edge, 0.0) < NEIGHBOURHOOD:
                    ahead += [(e, far + length.get(edge, 0.0)) for e in following.get(edge, ())]


def look(sumo, lights):
    """Every vehicle by the light and link that it comes to next."""
    vehicle, standing = sumo.vehicle, {}
    for light in lights.values():
        light.coming = [[] for _ in light.links]
    for v in vehicle.getIDList():
        speed = vehicle.getSpeed(v)
        if speed < STANDING:
            lane = vehicle.getLaneID(v)
            standing[lane] = standing.get(lane, 0) + 1
        ahead = vehicle.getNextTLS(v)
        if ahead and ahead[0][2] <= RANGE and ahead[0][0] in lights:
            name, link, distance, _ = ahead[0]
            waiting = vehicle.getWaitingTime(v) if speed < STANDING else 0.0
            lights[name].coming[link].append((distance, speed, waiting))
    behind = {l["to"] for light in lights.values() for l in light.links if l}
    full = {lane for lane in behind if standing.get(lane) and sumo.lane.getLastStepOccupancy(lane) > FULL}
    return {"standing": standing, "full": full}


class Library:
    """The same policy, compiled from C."""

    def __init__(self, path):
        pointer = {"holds": ctypes.POINTER(ctypes.c_ubyte), "number": ctypes.POINTER(ctypes.c_double)}
        single = {"holds": ctypes.c_ubyte, "number": ctypes.c_double, "constant": ctypes.c_int}
        self.legal = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        fields = [("objects", ctypes.c_int), ("type", ctypes.POINTER(ctypes.c_ubyte)), ("legal", self.legal)]
        fields += [(field, (pointer if arity else single)[kind]) for field, _, arity, kind in C_FIELDS]
        self.state = type("State", (ctypes.Structure,), {"_fields_": fields})
        self.action = type("Action", (ctypes.Structure,), {"_fields_": [("name", ctypes.c_int), ("args", ctypes.c_int * C_ARGUMENTS)]})
        self.library = ctypes.CDLL(os.path.abspath(path))

    def best_actions(self, facts, objects, legal):
        names = [name for name, _ in objects]
        n = len(names)
        state, kept = self.state(), []
        state.objects = n
        types = (ctypes.c_ubyte * n)(*(C_TYPES[kind] for _, kind in objects))
        state.type = types
        for field, name, arity, kind in C_FIELDS:
            if kind == "constant":
                setattr(state, field, names.index(name) if name in names else -1)
                continue
            plain = (ctypes.c_ubyte if kind == "holds" else ctypes.c_double)
            empty = 0 if kind == "holds" else float("nan")
            table = (plain * max(1, n ** arity))(*[empty] * max(1, n ** arity))
            for fact in facts:
                args = fact[1:] if kind == "holds" else fact[1:-1]
                if fact[0] == name and len(args) == arity:
                    at = 0
                    for arg in args:
                        at = at * n + names.index(arg)
                    table[at] = 1 if kind == "holds" else fact[-1]
            kept.append(table)
            setattr(state, field, table if arity else table[0])
        allowed = {(C_ACTIONS[action[0]],) + tuple(names.index(a) for a in action[1:]) for action in legal}
        arity = {C_ACTIONS[action[0]]: len(action) - 1 for action in legal}

        def is_legal(_, address):
            action = self.action.from_address(address)
            args = tuple(action.args[i] for i in range(arity.get(action.name, 0)))
            return int((action.name,) + args in allowed)

        state.legal = self.legal(is_legal)
        best, value = (self.action * 64)(), ctypes.c_double()
        found = self.library.derrl_decide(ctypes.byref(state), best, 64, ctypes.byref(value))
        called = {number: name for name, number in C_ACTIONS.items()}
        chosen = [best[i] for i in range(min(found, 64))]
        return value.value, {(called[a.name],) + tuple(names[a.args[i]] for i in range(arity[a.name])) for a in chosen}


def delay(path):
    """The mean delay per vehicle: time lost and waited for room to enter, of all who wanted to."""
    total, vehicles = 0.0, 0
    with open(path, encoding="utf-8") as file:
        for trip in re.finditer(r"<tripinfo [^>]*>", file.read()):
            value = {name: float(number) for name, number in re.findall(r' (depart|departDelay|timeLoss)="([-\d.]+)"', trip.group())}
            total += value["departDelay"] + (value["timeLoss"] if value["depart"] >= 0 else 0.0)
            vehicles += 1
    return total / max(1, vehicles), vehicles


def start(arguments, gui):
    """SUMO in this process where the package is there, else by TraCI."""
    try:
        if gui:
            raise ImportError
        import libsumo as sumo
        binary = "sumo"
    except ImportError:
        home = os.environ.get("SUMO_HOME")
        if not home:
            sys.exit("install SUMO with `pip install libsumo`, or set SUMO_HOME")
        sys.path.append(os.path.join(home, "tools"))
        import traci as sumo
        from sumolib import checkBinary
        binary = checkBinary("sumo-gui" if gui else "sumo")
    sumo.start([binary] + arguments + (["--start", "true"] if gui else []))
    return sumo


def main(arguments):
    gui = "--gui" in arguments
    arguments = [a for a in arguments if a != "--gui"]
    decide = best_actions
    if "--library" in arguments:
        at = arguments.index("--library")
        decide = Library(arguments[at + 1]).best_actions
        del arguments[at : at + 2]
    if not arguments or not os.path.isfile(arguments[0]):
        sys.exit("name a .sumocfg file")
    folder = tempfile.TemporaryDirectory()
    trips = os.path.join(folder.name, "trips.xml")
    options = ["-c", arguments[0], "--tripinfo-output", trips, "--tripinfo-output.write-unfinished", "true",
               "--tripinfo-output.write-undeparted", "true", "--time-to-teleport", "-1", "--no-step-log", "true",
               "--no-warnings", "true", "--duration-log.disable", "true"]
    sumo = start(options + arguments[1:], gui)
    begin, end = round(sumo.simulation.getTime()), round(sumo.simulation.getEndTime())
    if end <= begin:
        sys.exit("the scenario does not say when it ends: add an <end> to its <time>")
    lights = {name: Light(sumo, name, begin) for name in sumo.trafficlight.getIDList()}
    connect(sumo, lights)
    for now in range(begin, end):
        if (now - begin) % EVERY == 0 and any(light.may_decide(now) for light in lights.values()):
            seen = look(sumo, lights)
            for light in lights.values():
                if light.may_decide(now):
                    others = [("switch", f"p{p + 1}") for p in range(len(light.phases)) if p != light.phase]
                    legal = [("keep",)] + others
                    _, actions = decide(list(light.facts(lights, seen, now)), light.objects(), legal)
                    # Where no rule fires or several actions are best, the first will do.
                    action = min(actions or legal)
                    if action[0] == "switch":
                        light.switch(int(action[1][1:]) - 1, now)
        for light in lights.values():
            light.change(now)
        sumo.simulationStep()
    sumo.close()
    seconds, vehicles = delay(trips)
    print(f"{seconds:.1f} s lost per vehicle, {vehicles} vehicles")


if __name__ == "__main__":
    main(sys.argv[1:])

"""A policy learned directly on Gymnasium's Taxi, whose action masks are respected."""

import functools

import gymnasium

import derrl

MOVES = {"south": 0, "north": 1, "east": 2, "west": 3}
STANDS = {"red": (0, 0), "green": (0, 4), "yellow": (4, 0), "blue": (4, 3)}

env = gymnasium.make("Taxi")


@functools.cache
def nearer(row, col, stand):
    """The moves that bring the taxi nearer to a stand, by the environment's own transitions."""
    after = {m: next(iter(env.unwrapped.P[env.unwrapped.encode(row, col, 0, 1)][a]))[1] for m, a in MOVES.items()}
    places = {m: tuple(env.unwrapped.decode(s))[:2] for m, s in after.items()}
    here = distance(row, col, stand)
    return [m for m, (r, c) in places.items() if distance(r, c, stand) < here]


@functools.cache
def distance(row, col, stand):
    queue, seen = [((row, col), 0)], {(row, col)}
    for (r, c), steps in queue:
        if (r, c) == STANDS[stand]:
            return steps
        for a in MOVES.values():
            state = env.unwrapped.P[env.unwrapped.encode(r, c, 0, 1)][a][0][1]
            place = tuple(env.unwrapped.decode(state))[:2]
            if place not in seen:
                seen.add(place)
                queue.append((place, steps + 1))


def facts(observation, info):
    row, col, passenger, goal = env.unwrapped.decode(observation)
    stands = list(STANDS)
    said = [("goal", stands[goal]), ("riding",) if passenger == 4 else ("waiting", stands[passenger])]
    said += [("nearer", move, stand) for stand in stands for move in nearer(row, col, stand)]
    return said + [("here", stand) for stand, at in STANDS.items() if at == (row, col)]


DOMAIN = """
:- action(move(way)).     :- action(pickup).            :- action(dropoff).
:- state(riding).         :- state(waiting(stand)).     :- state(here(stand)).
:- state(nearer(way, stand)).                           :- background(goal(stand)).
:- variables(2).          :- rules(move/1, 2).
"""

world = derrl.wrap(
    env, facts=facts, domain=DOMAIN, objects=dict.fromkeys(MOVES, "way"),
    action=lambda name, *way: MOVES[way[0]] if way else {"pickup": 4, "dropoff": 5}[name],
    actions={"move": ["way"], "pickup": 0, "dropoff": 0},
)

SETTINGS = {"updates": 40, "batch": 512, "restarts": 2, "episodes": 100}

if __name__ == "__main__":
    run = derrl.train(world, seed=0, **SETTINGS)
    print(run)

"""The traffic world as a PettingZoo environment: an agent per intersection, all of which act at once.

    >>> from derrl.pettingzoo import Traffic
    >>> env = Traffic()                            # needs SUMO: pip install eclipse-sumo
    >>> observations, infos = env.reset(seed=0)
    >>> env.step({agent: env.action_space(agent).sample() for agent in env.agents})
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from ._derrl import Error, World

Observation = NDArray[np.float32]


class Traffic(ParallelEnv[str, Observation, int]):  # type: ignore[misc]
    """Traffic lights in SUMO. Every 10 seconds each intersection gives green to one of its incoming lanes.

    The observation of an intersection has, for each incoming lane, the number of vehicles that wait there, and then, for each,
    whether it has green. Action ``i`` gives green to lane ``i``; ``infos[agent]["lanes"]`` names the lanes. The reward of an
    agent is minus the mean queue of its lanes, divided by the number of decisions of an episode. Episodes are cut off at their
    end: they never terminate.
    """

    metadata = {"name": "derrl_traffic_v0", "render_modes": ["ansi"]}

    def __init__(
        self, task: str = "train", render_mode: str | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        """``task`` is ``train`` (5 intersections), ``agents-8``, or ``large`` with the option ``size``."""
        self.render_mode = render_mode
        self._episodes = World.find("traffic").episodes(task, json.dumps(dict(options or {})))
        self._rng = np.random.default_rng()
        scene = self._scene()
        self.possible_agents = [node["name"] for node in scene["nodes"] if node["lights"]]
        self.agents: list[str] = []
        self._lanes: dict[str, list[int]] = {
            agent: [at for at, lane in enumerate(scene["lanes"]) if lane["to"] == i]
            for i, agent in enumerate(self.possible_agents)
        }
        self._names = [lane["name"] for lane in scene["lanes"]]
        self.observation_spaces = {}
        self.action_spaces = {}
        for agent, lanes in self._lanes.items():
            most = [float(scene["lanes"][at]["capacity"]) for at in lanes] + [1.0] * len(lanes)
            high = np.array(most, dtype=np.float32)
            self.observation_spaces[agent] = gymnasium.spaces.Box(np.zeros_like(high), high, dtype=np.float32)
            self.action_spaces[agent] = gymnasium.spaces.Discrete(len(lanes))

    def observation_space(self, agent: str) -> gymnasium.spaces.Box:
        """Queues, and which lane has green."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """The lanes of the intersection."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Draws a demand and starts an episode with it. The same seed gives the same demands."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._episodes.reset(int(self._rng.integers(1 << 62)))
        self.agents = list(self.possible_agents)
        return self._look()

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
        """Gives green to a lane of each intersection, and lets 10 seconds pass."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise Error(f"no action for {', '.join(missing)}: every agent acts in every step")
        over = False
        for agent in self.agents:
            lanes, chosen = self._lanes[agent], int(actions[agent])
            if not 0 <= chosen < len(lanes):
                raise Error(f"action {chosen} of `{agent}`: it has the lanes 0 to {len(lanes) - 1}")
            _, _, over = self._episodes.step(("green", self._names[lanes[chosen]]))
        rewards = dict(zip(self.agents, self._episodes.round_rewards()))
        observations, infos = self._look()
        terminations, truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, over)
        if over:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def _scene(self) -> dict[str, Any]:
        scene: dict[str, Any] = json.loads(self._episodes.scene_json())
        return scene

    def _look(self) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        scene = self._scene()
        queues, green = scene["queues"], set(scene["green"])
        observations, infos = {}, {}
        for agent in self.agents:
            lanes, high = self._lanes[agent], self.observation_spaces[agent].high
            values = [float(queues[at]) for at in lanes] + [float(at in green) for at in lanes]
            observations[agent] = np.minimum(np.array(values, dtype=np.float32), high)
            infos[agent] = {"lanes": [self._names[at] for at in lanes], "time": scene["time"]}
        return observations, infos

    def render(self) -> str | None:
        """The queues as text, a line per intersection; lanes with green have a star."""
        if self.render_mode != "ansi":
            return None
        scene = self._scene()
        star = {True: "*", False: ""}
        return "\n".join(
            f"{agent}: " + ", ".join(f"{self._names[at]} {scene['queues'][at]}{star[at in scene['green']]}" for at in lanes)
            for agent, lanes in self._lanes.items()
        )

    def close(self) -> None:
        """Nothing is left open: SUMO ends with the object."""

"""The built-in worlds as Gymnasium environments: ``gymnasium.make("derrl/Blocks-v0", task="dynamic-blocks")``.

``import derrl`` imports this module where Gymnasium is installed, and so registers them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ._derrl import Error, World, builtin
from .drawing import draw

MOST_BITS = 1 << 22
"""The most ground atoms of an observation."""


class DerrlEnv(gymnasium.Env[NDArray[np.int8], np.int64]):
    """A task of a built-in world.

    An observation has a bit per ground atom: predicates in the order of the domain, objects by their place among those of the
    instance, padded to the largest instance. Action ``i`` is the ``i``-th action of the instance; ``info["actions"]`` lists them,
    ``info["action_mask"]`` says which there are and are legal, ``info["facts"]`` what holds. An index beyond the actions of the
    instance stands for one of them: the remainder.
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4}

    def __init__(
        self,
        world: str = "blocks",
        task: str = "train",
        render_mode: str | None = None,
        options: Mapping[str, Any] | None = None,
        probe: int = 64,
    ) -> None:
        """``options`` are those of the world, such as ``{"noise": 0.1}``. Spaces are as large as the largest of the first ``probe``
        instances."""
        self.render_mode = render_mode
        self._world = World.find(world)
        self._episodes = self._world.episodes(task, json.dumps(dict(options or {})))
        self._predicates = self._world.predicates()
        self._most = self._actions_most = 1
        for seed in range(probe):
            self._episodes.reset(seed)
            self._most = max(self._most, len(self._episodes.objects()))
            self._actions_most = max(self._actions_most, len(self._episodes.actions()))
        self._offsets, bits = {}, 0
        for name, arity in self._predicates:
            self._offsets[name, arity] = bits
            bits += self._most**arity
        if bits > MOST_BITS:
            raise Error(f"task `{task}` of `{world}` has {bits:,} ground atoms: too many for an observation")
        self.observation_space = gymnasium.spaces.MultiBinary(bits)
        self.action_space = gymnasium.spaces.Discrete(self._actions_most)
        self._actions: list[tuple[str | int, ...]] = []
        self._facts: list[tuple[str | int, ...]] = []
        self._places: dict[str | int, int] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Draws an instance. The same seed gives the same instances."""
        super().reset(seed=seed)
        self._episodes.reset(int(self.np_random.integers(1 << 62)))
        objects = self._episodes.objects()
        self._actions = self._episodes.actions()
        if len(objects) > self._most or len(self._actions) > self._actions_most:
            raise Error("an instance is larger than those that the spaces were made for: make the environment with a larger probe")
        self._places = {name: place for place, name in enumerate(objects)}
        return self._look()

    def step(self, action: np.int64) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Acts."""
        if not self._actions:
            raise Error("there is no episode: call reset first")
        chosen = self._actions[int(action) % len(self._actions)]
        reward, terminated, truncated = self._episodes.step(chosen)
        observation, info = self._look()
        if terminated or truncated:
            info["success"] = self._episodes.succeeded()
        return observation, reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions there are and are legal, as MaskablePPO asks for it."""
        mask = np.zeros(self._actions_most, dtype=np.bool_)
        legal = self._episodes.legal()
        if legal is None:
            mask[: len(self._actions)] = True
        else:
            allowed = set(legal)
            mask[: len(self._actions)] = [action in allowed for action in self._actions]
        return mask

    def _look(self) -> tuple[NDArray[np.int8], dict[str, Any]]:
        self._facts = self._episodes.facts()
        observation = np.zeros(self.observation_space.shape or (0,), dtype=np.int8)
        for name, *args in self._facts:
            at = 0
            for o in args:
                at = at * self._most + self._places[o]
            observation[self._offsets[str(name), len(args)] + at] = 1
        info = {
            "facts": self._facts,
            "actions": self._actions,
            "action_mask": self.action_masks().astype(np.int8),
            "legal": self._episodes.legal(),
        }
        return observation, info

    def render(self) -> Any:
        """A picture, or the facts as text."""
        if self.render_mode == "ansi":
            return " ".join(f"{name}({', '.join(map(str, args))})" if args else str(name) for name, *args in self._facts)
        if self.render_mode == "rgb_array":
            return draw(json.loads(self._episodes.scene_json()))
        return None


def identifier(world: str) -> str:
    """The name under which a world is registered."""
    return f"derrl/{world.capitalize()}-v0"


def register() -> None:
    """Registers every built-in world of one agent whose states are facts. Traffic has several agents; cartpole has numbers alone, and
    Gymnasium has it itself."""
    for world in builtin():
        if world not in ("traffic", "signals") and World.find(world).predicates() and identifier(world) not in gymnasium.registry:
            gymnasium.register(id=identifier(world), entry_point="derrl.gym:DerrlEnv", kwargs={"world": world})


register()

"""Soft facts: what actions are worth where facts hold with a probability, with gradients for NumPy, PyTorch and JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from . import _derrl
from ._derrl import Error
from .inference import Action


class Soft:
    """A policy in one state, some facts of which are soft. Made by :meth:`derrl.Policy.soft`.

    The value of an action is the highest, over rules and substitutions, of the rule's value times the t-norm of the probabilities in its
    body. All functions take probabilities with any number of leading dimensions, and call Rust once for all of them.

        >>> soft = run.policy.soft([("isFloor", "floor")], [("top", "a"), ("top", "b")], tnorm="product")
        >>> print(soft.values([0.5, 1.0]))
    """

    def __init__(self, inner: _derrl.Soft, atoms: Sequence[Sequence[str | int]]) -> None:
        self._inner = inner
        self.atoms: list[tuple[str | int, ...]] = [tuple(atom) for atom in atoms]
        """The soft facts, in the order of the probabilities."""
        self.actions: list[Action] = [tuple(action) for action in inner.actions]
        """The actions, in the order of the values."""

    def _rows(self, numbers: Any, width: int, what: str) -> Any:
        import numpy

        rows = numpy.ascontiguousarray(numbers, dtype="<f8")
        if rows.ndim == 0 or rows.shape[-1] != width:
            raise Error(f"the last dimension of {what} has {width} places, not the shape {rows.shape}")
        return rows

    def values(self, probabilities: Any) -> Any:
        """What each action is worth: an array with the actions in its last dimension, where probabilities have the soft facts.

            >>> soft = run.policy.soft([("isFloor", "floor")], [("top", "a"), ("top", "b")], tnorm="product")
            >>> print(soft.values([[0.5, 1.0], [1.0, 1.0]]).shape)
        """
        import numpy

        rows = self._rows(probabilities, len(self.atoms), "probabilities")
        found = numpy.frombuffer(self._inner.values(rows.tobytes()), dtype="<f8")
        return found.reshape(*rows.shape[:-1], len(self.actions)).copy()

    def gradient(self, probabilities: Any, d_values: Any) -> Any:
        """The gradient to the probabilities, given that to the values.

            >>> soft = run.policy.soft([("isFloor", "floor")], [("top", "a"), ("top", "b")], tnorm="product")
            >>> print(soft.gradient([0.5, 1.0], [1.0] * len(soft.actions)))
        """
        import numpy

        rows = self._rows(probabilities, len(self.atoms), "probabilities")
        d_rows = self._rows(d_values, len(self.actions), "gradients")
        if rows.shape[:-1] != d_rows.shape[:-1]:
            raise Error(f"probabilities {rows.shape} and gradients {d_rows.shape} differ in more than the last dimension")
        found = numpy.frombuffer(self._inner.gradient(rows.tobytes(), d_rows.tobytes()), dtype="<f8")
        return found.reshape(rows.shape).copy()

    def torch(self) -> Callable[[Any], Any]:
        """The same function for PyTorch: from a tensor of probabilities to one of values, through which gradients flow.

            >>> values = soft.torch()(network(image))  # doctest: +SKIP
            >>> values[chosen].log().neg().backward()  # doctest: +SKIP
        """
        # Not imported unless used.
        torch: Any = import_module("torch")
        soft = self

        class Values(torch.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, probabilities: Any) -> Any:
                ctx.save_for_backward(probabilities)
                found = soft.values(probabilities.detach().cpu().numpy())
                return torch.as_tensor(found, dtype=probabilities.dtype, device=probabilities.device)

            @staticmethod
            def backward(ctx: Any, d_values: Any) -> Any:
                (probabilities,) = ctx.saved_tensors
                found = soft.gradient(probabilities.detach().cpu().numpy(), d_values.detach().cpu().numpy())
                return torch.as_tensor(found, dtype=probabilities.dtype, device=probabilities.device)

        apply: Callable[[Any], Any] = Values.apply
        return apply

    def jax(self) -> Callable[[Any], Any]:
        """The same function for JAX, also under ``jit``, ``grad`` and ``vmap``.

            >>> import jax
            >>> soft = run.policy.soft([("isFloor", "floor")], [("top", "a"), ("top", "b")], tnorm="product")
            >>> print(jax.grad(lambda p: soft.jax()(p).sum())(jax.numpy.array([0.5, 1.0])))
        """
        # Not imported unless used.
        jax: Any = import_module("jax")
        def shaped(like: Any, places: int) -> Any:
            return jax.ShapeDtypeStruct((*like.shape[:-1], places), like.dtype)

        def forward(probabilities: Any) -> Any:
            found = lambda p: self.values(p).astype(p.dtype)  # noqa: E731
            return jax.pure_callback(found, shaped(probabilities, len(self.actions)), probabilities, vmap_method="broadcast_all")

        def backward(probabilities: Any, d_values: Any) -> Any:
            found = lambda p, d: self.gradient(p, d).astype(p.dtype)  # noqa: E731
            d_probabilities = jax.pure_callback(
                found, shaped(probabilities, len(self.atoms)), probabilities, d_values, vmap_method="broadcast_all"
            )
            return (d_probabilities,)

        values = jax.custom_vjp(forward)
        values.defvjp(lambda p: (forward(p), p), backward)
        function: Callable[[Any], Any] = values
        return function

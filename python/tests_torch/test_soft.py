"""Soft facts for PyTorch."""

import pytest
import torch

import derrl


def test_gradients_flow_through_rules_into_a_network():
    policy = derrl.Policy.parse("0.9::move(X, Y) :- top(X), isFloor(Y).", "blocks")
    soft = policy.soft([("isFloor", "floor")], [("top", "a"), ("top", "b")], tnorm="product")
    values = soft.torch()
    p = torch.tensor([[0.9, 0.8], [0.3, 0.6]], requires_grad=True)
    values(p).sum().backward()
    assert p.grad.numpy() == pytest.approx(soft.gradient(p.detach().numpy(), [[1.0] * len(soft.actions)] * 2))
    assert torch.autograd.gradcheck(values, torch.tensor([0.7, 0.2], dtype=torch.float64, requires_grad=True))

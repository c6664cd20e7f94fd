"""Starts children in one form of one layer and closes them after each test."""

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import pytest

from bench_workers.sandbox.children import Child
from bench_workers.sandbox.identity import fresh_uid
from bench_workers.sandbox.policy import Policy
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.start import start
from bench_workers.sandbox.zygote import Zygote

POLICY_FIELDS = {
    "memory_bytes",
    "cpu_seconds",
    "processes",
    "files",
    "file_size_bytes",
    "disk_bytes",
    "shared_memory_bytes",
    "output_bytes",
}


def changed(layer: ModuleType, changes: dict) -> Policy:
    """Return a layer's policy with changes, which are taken out of the dictionary."""
    policy = default_policy("cpu", layer=layer.NAME, threads=1)
    limits = {name: changes.pop(name) for name in POLICY_FIELDS & set(changes)}
    limits["readable"] = (*policy.readable, *changes.pop("readable", ()))
    return replace(policy, **limits)


@pytest.fixture
def start_in() -> Iterator[Callable[..., Child]]:
    """Start a child in a layer; keywords change its policy or go to `start`."""
    started: list[Child] = []

    def begin(layer: ModuleType, *, own_user: bool, role: str = "echo", **changes) -> Child:
        policy = changed(layer, changes)
        uid = fresh_uid() if own_user else None
        child = start(role, policy, layer, uid=uid, **changes)
        started.append(child)
        return child

    yield begin
    for child in started:
        child.close()


@pytest.fixture(scope="module")
def zygotes() -> Iterator[dict]:
    """Zygotes by what their walls depend on."""
    made: dict = {}
    yield made
    for zygote in made.values():
        zygote.close()


@pytest.fixture
def fork_in(zygotes: dict) -> Iterator[Callable[..., Child]]:
    """Do as `start_in`, with children from one zygote."""
    forked: list[Child] = []

    def begin(layer: ModuleType, *, own_user: bool, role: str = "echo", **changes) -> Child:
        policy = changed(layer, changes)
        key = (layer.NAME, own_user, policy.readable)
        if key not in zygotes:
            uid = fresh_uid if own_user else (lambda: None)
            zygotes[key] = Zygote(policy, layer, uid=uid)
        zygotes[key]._policy = policy  # limits are each child's own
        child = zygotes[key].take(role, **changes)
        forked.append(child)
        return child

    yield begin
    for child in forked:
        child.close()

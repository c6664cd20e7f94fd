"""Finds the accelerators of this machine and what they reach, through children."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from bench_workers.host.card import card_of
from bench_workers.host.sessions import Sessions
from bench_workers.sandbox.layers import best_layer
from xeforge.domain.device import Backend
from xeforge.domain.device import Card
from xeforge.errors import CandidateError

_NODES: Mapping[str, str] = {"cuda": "nvidia[0-9]*", "xpu": "dri/renderD*"}
_SECONDS = 120.0


def nodes(backend: Backend) -> tuple[Path, ...]:
    """Return the device nodes through which cards of a backend are reached."""
    return tuple(sorted(Path("/dev").glob(_NODES[backend]))) if backend in _NODES else ()


def list_cards(backend: Backend, *, layer: str | None = None) -> tuple[Card, ...]:
    """Return all units of a backend in this machine; empty where there is none.

    Raises:
        PlatformError: A child that asks torch cannot be started.
    """
    if not nodes(backend):
        return ()
    sessions = Sessions(backend, layer=layer or best_layer(), spares=0)
    try:
        with closing(sessions.start("run")) as session:
            found = session.ask("cards", {}, seconds=_SECONDS)["cards"]
            return tuple(
                card_of({**session.facts, **each}, index) for index, each in enumerate(found)
            )
    except CandidateError:  # torch here was built without this backend, or its driver fails
        return ()
    finally:
        sessions.close()

"""Which device runs candidates and which model of accelerator they are optimized for."""

from pathlib import Path

from xeforge.domain.device import Backend
from xeforge.errors import BadRequest

DEFAULT_TARGET = "nvidia-h200"
"""Target of a machine without an accelerator."""
BACKENDS: tuple[Backend, ...] = ("cuda", "xpu", "cpu")


def choose_backend(asked: str | None) -> Backend:
    """Return the torch device type to run on: the one asked for, else the best one present."""
    if asked is not None:
        named: Backend | None = next((each for each in BACKENDS if each == asked), None)
        if named is None:
            raise BadRequest(
                f"unknown device {asked!r}", field="--device", remedy="use cuda, xpu or cpu"
            )
        return named
    if any(Path("/dev").glob("nvidia[0-9]*")):
        return "cuda"
    if any(Path("/dev/dri").glob("renderD*")) and _has_intel_card():
        return "xpu"
    return "cpu"


def _has_intel_card() -> bool:
    """Say whether torch sees an Intel GPU behind the render nodes."""
    from bench_workers.cards import list_cards

    return any(card.backend == "xpu" for card in list_cards("xpu"))


def choose_target(asked: str | None, backend: Backend) -> str:
    """Return the device model: the one asked for, else that of the card, else the default.

    Raises:
        BadRequest: No such model, no such card, or no data about the card that is there.
    """
    from knowledge.load import device_for_product
    from knowledge.load import find_device

    if asked is not None:
        return find_device(asked).name
    if backend == "cpu":
        return DEFAULT_TARGET
    from bench_workers.cards import list_cards

    cards = list_cards(backend)
    if not cards:
        raise BadRequest(
            f"no {backend} device here",
            field="--device",
            remedy="use --device cpu, or run `xeforge doctor` to see what is missing",
        )
    device = device_for_product(cards[0].product)
    if device is None:
        raise BadRequest(
            f"no device data for {cards[0].product!r}",
            field="--target",
            remedy="name the nearest model with --target (`xeforge devices` lists them)",
        )
    return device.name

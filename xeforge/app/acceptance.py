"""`xeforge doctor --accept`: one command checks a card and writes what it found into a file."""

import getpass
import platform
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import xeforge
from xeforge.adapters.memory_store import MemoryStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.app.choose import BACKENDS
from xeforge.app.console import say
from xeforge.app.console import tell
from xeforge.app.console import tell_checks
from xeforge.app.embedded import open_parts
from xeforge.app.files import read_source
from xeforge.app.isolation import required_layer
from xeforge.app.request import to_problem
from xeforge.app.selftest import problem_for
from xeforge.app.selftest import selftest
from xeforge.domain.acceptance import FORMAT
from xeforge.domain.acceptance import Acceptance
from xeforge.domain.check import Basis
from xeforge.domain.check import Check
from xeforge.domain.codec import loads
from xeforge.domain.device import Backend
from xeforge.domain.device import Card
from xeforge.domain.device import Device
from xeforge.domain.history import History
from xeforge.domain.issue import Severity
from xeforge.domain.problem import Problem
from xeforge.errors import BadRequest
from xeforge.errors import ToolchainMissing
from xeforge.errors import UserError
from xeforge.errors import XeForgeError
from xeforge.pipeline.certificate import versions
from xeforge.pipeline.compare import audit
from xeforge.pipeline.parts import Parts

EXAMPLES = ("elementwise_chain", "softmax_rows", "layer_norm")
_VARIANT = "ci"
_LEAST_NAME = 3
"""Shorter names of users or machines are parts of ordinary words."""
_NOBODYS = frozenset({"root", "localhost", "/root", "/tmp"})  # noqa: S108
"""Names that tell nothing."""


def accept(asked: str, target: str | None, *, allow_unsandboxed: bool) -> Acceptance:
    """Find the card, try everything that could not be tried without it, and report.

    Raises:
        BadRequest: No such backend, or the examples are not there.
        ToolchainMissing: No card of it here, or no sandbox works and that was not allowed.
    """
    from bench_workers.host.acceptance import device_checks

    backend = _backend(asked)
    layer = required_layer(allow_unsandboxed=allow_unsandboxed)
    kernels = [_example(name) for name in EXAMPLES]
    card = _card(backend)
    device, notes = _device(card, target)
    say(f"{card.product}, driver {card.driver or 'unknown'}: device interface")
    checks, ceilings = device_checks(backend, device, layer=layer)
    problem = problem_for(device.name, backend)
    store = MemoryStore(SystemClock())
    with open_parts(problem, store, allow_unsandboxed=allow_unsandboxed) as parts:
        for kernel in kernels:
            say(f"audit of {kernel.name}")
            checks += (_audited(kernel, backend, device.name, parts),)
        say("self-test")
        checks += _tried(problem, parts)
    found = {**versions(card), "kernel": platform.release(), "machine": platform.machine()}
    return scrubbed(
        Acceptance(
            format=FORMAT,
            backend=backend,
            target=device.name,
            card=replace(card, uuid=""),
            ceilings=ceilings,
            versions=found,
            sandbox=layer,
            created_at_seconds=SystemClock().now_seconds(),
            notes=notes,
            checks=checks,
            passed=all(each.passed for each in checks),
        ),
        private_words(),
    )


def read_acceptance(file: Path) -> Acceptance:
    """Load what `accept` wrote, and check that it says the same all through.

    Raises:
        BadRequest: It is no such file, of another format, or contradicts itself.
    """
    remedy = "name a file that `xeforge doctor --accept` wrote"
    try:
        found = loads(Acceptance, read_source(file).text)
    except (UserError, ValueError) as error:
        raise BadRequest(f"is no acceptance: {error}", file=file, remedy=remedy) from error
    if found.format != FORMAT:
        raise BadRequest(
            f"has format {found.format}, this version reads {FORMAT}", file=file, remedy=remedy
        )
    names = [each.name for each in found.checks]
    if found.passed != all(each.passed for each in found.checks) or not names:
        raise BadRequest("contradicts itself: the verdict is not that of its checks", file=file)
    if len(names) != len(set(names)):
        raise BadRequest("names a check twice", file=file, remedy=remedy)
    return found


def show(found: Acceptance) -> None:
    """Print an acceptance for people."""
    for name, value in found.versions.items():
        tell(f"{name:<8} {value}")
    tell(f"card     {found.card.product}, {found.card.memory_bytes / 2**30:.0f} GiB")
    tell(f"limits   of {found.target}; isolated by {found.sandbox}")
    for note in found.notes:
        tell(f"note     {note}")
    tell_checks(found.checks)
    failed = [each.name for each in found.checks if not each.passed]
    count = len(found.checks)
    tell(
        f"{len(failed)} of {count} FAILED: {', '.join(failed)}" if failed else f"all {count} passed"
    )


def scrubbed(found: Acceptance, words: Mapping[str, str]) -> Acceptance:
    """Take names of persons, machines and folders out of every message."""

    def clean(text: str) -> str:
        for word, stand_in in words.items():
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", stand_in, text)
        return text

    checks = tuple(replace(each, message=clean(each.message)) for each in found.checks)
    return replace(found, checks=checks, notes=tuple(map(clean, found.notes)))


def private_words() -> dict[str, str]:
    """Return what must not be in the file, longest first, with what stands in its place."""
    words = {
        str(Path(xeforge.__file__).parent.parent): "<program>",
        str(Path.cwd()): "<folder>",
        str(Path.home()): "<home>",
        tempfile.gettempdir(): "<temporary>",
        platform.node(): "<machine>",
    }
    with suppress(OSError, KeyError):  # a user without a name
        words[getpass.getuser()] = "<user>"
    kept = {
        word: name
        for word, name in words.items()
        if len(word) >= _LEAST_NAME and word not in _NOBODYS
    }
    return dict(sorted(kept.items(), key=lambda each: -len(each[0])))


def _backend(asked: str) -> Backend:
    found: Backend | None = next((each for each in BACKENDS if each == asked), None)
    if found is None or found == "cpu":
        raise BadRequest(f"cannot accept {asked!r}", field="--accept", remedy="use xpu or cuda")
    return found


def _card(backend: Backend) -> Card:
    from bench_workers.cards import list_cards
    from bench_workers.cards import nodes

    cards = list_cards(backend)
    if cards:
        return cards[0]
    seen = [str(each) for each in nodes(backend)]
    where = f"device nodes are there ({seen[0]}), but torch sees no card" if seen else "no card"
    raise ToolchainMissing(
        f"no {backend} card here: {where}; nothing was checked",
        remedy="run this on the machine that has the card (`xeforge doctor` says what is missing)",
    )


def _device(card: Card, target: str | None) -> tuple[Device, tuple[str, ...]]:
    """Return the model whose numbers apply; where there are none, another one of the same maker."""
    from knowledge.load import device_for_product
    from knowledge.load import find_device
    from knowledge.load import load_devices

    found = find_device(target) if target else device_for_product(card.product)
    if found is not None:
        return found, ()
    known = [each for each in load_devices().values() if each.backend == card.backend]
    product = card.product.lower()
    nearest = next((each for each in known if each.vendor.lower() in product), known[0])
    note = f"no device data about {card.product!r}; the limits of {nearest.title} were used"
    return nearest, (note,)


def _example(name: str) -> Path:
    path = Path(xeforge.__file__).parent.parent / "examples" / f"{name}.py"
    if not path.is_file():
        raise BadRequest(
            "the examples are not installed", file=path, remedy="run from a source checkout"
        )
    return path


def _audited(kernel: Path, backend: Backend, target: str, parts: Parts) -> Check:
    """Audit an example's small shapes on the card and in the interpreter."""
    name = f"audit.{kernel.stem}"
    try:
        problem = to_problem(
            kernel,
            spec=kernel.with_suffix(".yaml"),
            reference=None,
            variants=[_VARIANT],
            device=backend,
            target=target,
        )
        return audit_check(name, _audit(replace(problem, workloads=problem.timed), parts))
    except XeForgeError as error:
        return Check(name, False, Basis.RAN, str(error))


def _audit(problem: Problem, parts: Parts) -> History:
    return audit(problem, parts, lambda _: None)


def audit_check(name: str, history: History) -> Check:
    """Say whether an example that is known to be right was found right."""
    found = history.audited
    if found is None:
        return Check(name, False, Basis.RAN, "the audit did not end")
    errors = [each for each in found.issues if each.severity is Severity.ERROR]
    right = len(found.trusted_cases)
    words = [f"right on {right} kinds of input, {len(found.unchecked)} could not be checked"]
    words += [f"{each.type}: {each.message}" for each in errors]
    passed = not errors and right > 0
    return Check(name, passed, Basis.RAN, "; ".join(words)[:2000], float(right), "cases")


def _tried(problem: Problem, parts: Parts) -> tuple[Check, ...]:
    """Run the self-test; failing to run it is a failed check as well."""
    try:
        found = selftest(parts, problem)
    except XeForgeError as error:
        return (Check("selftest", False, Basis.RAN, str(error)),)
    return tuple(replace(each, name=f"selftest.{each.name}") for each in found)

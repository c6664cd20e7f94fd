"""`xeforge verify`: is a kernel right on all variants, ragged and special inputs?"""

import sys

import typer

from xeforge.adapters.memory_store import MemoryStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.app.console import Narrator
from xeforge.app.console import announce
from xeforge.app.console import tell
from xeforge.app.console import tell_caution
from xeforge.app.embedded import open_parts
from xeforge.app.exit_codes import ExitCode
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.request import AtolOption
from xeforge.app.request import DeviceOption
from xeforge.app.request import JsonOption
from xeforge.app.request import KernelArgument
from xeforge.app.request import ReferenceOption
from xeforge.app.request import RtolOption
from xeforge.app.request import SpecOption
from xeforge.app.request import TargetOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_problem
from xeforge.domain.codec import dumps
from xeforge.domain.history import History
from xeforge.pipeline.compare import audit
from xeforge.pipeline.compare import is_wrong


def command(
    kernel: KernelArgument,
    *,
    spec: SpecOption = None,
    reference: ReferenceOption = None,
    variant: VariantOption = None,
    device: DeviceOption = None,
    target: TargetOption = None,
    rtol: RtolOption = None,
    atol: AtolOption = None,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check a kernel against its reference on all variants, ragged and special inputs.

    Exit codes: 0 right, 4 wrong, 2 bad input, 5 platform fault.
    """
    problem = to_problem(
        kernel,
        spec=spec,
        reference=reference,
        variants=variant,
        device=device,
        target=target,
        rtol=rtol,
        atol=atol,
    )
    announce(problem)
    store = MemoryStore(SystemClock())
    history = History("audit", problem)
    opened = open_parts(problem, store, allow_unsandboxed=allow_unsandboxed)
    with opened as parts, Narrator(history) as narrator:
        history = audit(problem, parts, narrator.observe)
    if as_json:
        sys.stdout.write(dumps(history.audited) + "\n")
    wrong = is_wrong(history)
    if not as_json:
        tell(_conclusion(history, is_wrong_here=wrong))
        tell_caution(history)
    raise typer.Exit(ExitCode.BASELINE_WRONG if wrong else ExitCode.FASTER)


def _conclusion(history: History, *, is_wrong_here: bool) -> str:
    """Say what was shown, and no more than that."""
    if is_wrong_here:
        return "wrong"
    if history.problem.reference is None:
        return "no self-evident fault found; without a reference no values were compared"
    return "right on every case that could be checked"

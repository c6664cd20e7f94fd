"""`xeforge demo`: one of the example kernels, on whatever device is here."""

from contextlib import closing
from pathlib import Path

import typer

import xeforge
from xeforge.app.console import say
from xeforge.app.embedded import home
from xeforge.app.embedded import new_job_id
from xeforge.app.embedded import open_store
from xeforge.app.exit_codes import ExitCode
from xeforge.app.exit_codes import exit_code
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.isolation import required_layer
from xeforge.app.optimize import run_and_report
from xeforge.app.request import Limits
from xeforge.app.request import to_problem
from xeforge.errors import BadRequest

EXAMPLE = "matmul_upcast"
TRIALS = 12
SECONDS = 150.0


def command(*, allow_unsandboxed: UnsandboxedOption = False) -> None:
    """Optimize an example kernel and show everything: audit, trials, winner, proof.

    Exit codes: 0 a faster kernel was found, measured or (without a GPU) estimated and labelled
    so; otherwise as `xeforge optimize`.
    """
    examples = Path(xeforge.__file__).parent.parent / "examples"
    kernel = examples / f"{EXAMPLE}.py"
    if not kernel.is_file():
        raise BadRequest(
            "the examples are not installed", file=kernel, remedy="run from a source checkout"
        )
    problem = to_problem(
        kernel,
        spec=examples / f"{EXAMPLE}.yaml",
        reference=None,
        variants=None,
        device=None,
        target=None,
        limits=Limits((), SECONDS, TRIALS),
    )
    required_layer(allow_unsandboxed=allow_unsandboxed)
    say(f"optimizing {kernel}")
    with closing(open_store(home())) as store:
        job = new_job_id()
        store.create(job, problem)
        history = run_and_report(job, store, None, allow_unsandboxed=allow_unsandboxed)
    code = exit_code(history)
    is_found = code in {ExitCode.FASTER, ExitCode.FASTER_BY_ESTIMATE}
    raise typer.Exit(ExitCode.FASTER if is_found else code)

"""`xeforge structure`: how compilers for Intel take a kernel apart, where no Intel card is."""

import shutil
import sys
from functools import partial

import typer

from xeforge.app.console import tell
from xeforge.app.diagnosis import Row
from xeforge.app.exit_codes import ExitCode
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.isolation import required_layer
from xeforge.app.request import JsonOption
from xeforge.app.request import KernelArgument
from xeforge.app.request import ReferenceOption
from xeforge.app.request import SpecOption
from xeforge.app.request import TargetOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_problem
from xeforge.domain.codec import dumps
from xeforge.domain.isolation import caution
from xeforge.domain.lowering import LaunchLowering
from xeforge.domain.lowering import Lowered
from xeforge.domain.lowering import Native
from xeforge.domain.lowering import Strength
from xeforge.domain.lowering import Structure
from xeforge.domain.problem import Problem
from xeforge.errors import BadKernel
from xeforge.errors import CandidateError
from xeforge.verify.gate import gate

_TARGET = "intel-b580"
_CANNOT = "cannot be lowered by triton-xpu 3.3"


def command(
    kernel: KernelArgument,
    *,
    spec: SpecOption = None,
    reference: ReferenceOption = None,
    variant: VariantOption = None,
    target: TargetOption = _TARGET,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show how a kernel's launches are lowered for Intel Arc; needs no card, times nothing.

    Exit codes: 0 every launch was lowered within the device's limits, 4 one breaks a limit,
    5 one could not be lowered for it, or the optional environment is missing, 2 bad input.
    """
    problem = to_problem(
        kernel, spec=spec, reference=reference, variants=variant, device="cpu", target=target
    )
    found = examine(problem, layer=required_layer(allow_unsandboxed=allow_unsandboxed))
    if as_json:
        sys.stdout.write(dumps(found) + "\n")
    else:
        _print(found)
    raise typer.Exit(verdict(found))


def examine(problem: Problem, *, layer: str) -> Structure:
    """Read a kernel with our own rules, and have its launches lowered in sandboxed children.

    Args:
        problem: Kernel, workloads and target.
        layer: Isolation layer of the children.

    Raises:
        BadKernel: The kernel does not get as far as a launch.
        ToolchainMissing: The optional environment is not there.
    """
    from bench_workers.host.lowering import environment
    from bench_workers.host.lowering import second_policy
    from bench_workers.host.lowering import structure
    from bench_workers.sandbox.launch import launch
    from bench_workers.sandbox.policy import default_policy
    from knowledge.load import find_device

    device, source = find_device(problem.target), problem.kernel.text
    first = default_policy("cpu", layer=layer)
    second = second_policy(first, environment())
    timed = tuple(each for each in problem.workloads if each.is_timed) or problem.workloads
    children = partial(launch, "build", first), partial(launch, "lower", second)
    try:
        launches, notes = structure(*children, source, timed, device)
    except CandidateError as error:
        line = getattr(error, "line", None)
        raise BadKernel(error.message, file=problem.kernel.path, line=line) from error
    return Structure(
        kernel=problem.kernel.path,
        device=device.name,
        parsed=tuple(each for each in gate(problem, source, device) if not each.passed),
        launches=launches,
        notes=tuple(each for each in (*problem.notes, *notes, caution(layer)) if each),
    )


def structure_row() -> Row:
    """Say for the doctor whether the optional environment is there, and how far it reaches."""
    from bench_workers.host.lowering import REMEDY
    from bench_workers.host.lowering import environment
    from bench_workers.host.lowering import installed_version

    part, version = "intel structural check", installed_version(environment())
    if version is None:
        return Row(part, False, "not set up", f"optional, no card needed: {REMEDY}")
    ocloc = shutil.which("ocloc")
    reach = f"{Strength.NATIVE} with {ocloc}" if ocloc else f"{Strength.LOWERED} only, no ocloc"
    remedy = "" if ocloc else "optional: apt-get install intel-opencl-icd"
    return Row(part, True, f"triton-xpu {version}, {reach}", remedy)


def verdict(found: Structure) -> ExitCode:
    """Return the exit code: a broken limit counts more than a launch that could not be lowered."""
    if any(each.broken_limits for each in found.launches):
        return ExitCode.BASELINE_WRONG
    if not found.launches or any(each.reached is Strength.PARSED for each in found.launches):
        return ExitCode.PLATFORM_FAULT
    return ExitCode.FASTER


def _print(found: Structure) -> None:
    """Print it for people, each statement under the name of its strength."""
    tell(f"{found.kernel} for {found.device}: structure only")
    words = "; ".join(each.message for each in found.parsed) or "no static rule complains"
    tell(f"  {Strength.PARSED}: {words}")
    for launch in found.launches:
        _print_launch(launch)
    if not found.launches:
        tell("  no launch was seen")
    tell(f"  {Strength.NUMERICS}: not looked at here; `xeforge verify --device cpu` does")
    for note in found.notes:
        tell(f"note: {note}")
    tell(found.never)


def _print_launch(launch: LaunchLowering) -> None:
    constants = ", ".join(f"{name}={value}" for name, value in launch.constants.items())
    tell(f"{launch.kernel} [{constants}] in {launch.workload}: reached {launch.reached!s}")
    if launch.lowered is None:
        tell(f"  {_CANNOT}: {launch.refused}")
        return
    doubts = f"NOT reached: {'; '.join(launch.lowering_doubts)}: " if launch.lowering_doubts else ""
    tell(f"  {Strength.LOWERED}: {doubts}{lowered_words(launch.lowered)}")
    for layout in launch.lowered.dpas_layouts:
        tell(f"    DPAS layout {layout}")
    for limit in launch.broken_limits:
        tell(f"    BREAKS A LIMIT: {limit}")
    if launch.native is None:
        tell(f"  {Strength.NATIVE}: not tried, no ocloc here")
    elif launch.native_doubts:
        tell(f"  {Strength.NATIVE}: NOT reached: {'; '.join(launch.native_doubts)}")
    else:
        tell(f"  {Strength.NATIVE}: {native_words(launch.native)}")


def lowered_words(lowered: Lowered) -> str:
    """Return one line about a lowered launch."""
    products = f"{lowered.dpas_calls} DPAS ({', '.join(lowered.dpas_operands)})"
    return (
        f"{products if lowered.dpas_calls else 'no DPAS'}, "
        f"2D block reads {lowered.block_reads}, writes {lowered.block_writes}, "
        f"prefetches {lowered.prefetches}, SLM {lowered.slm_bytes} B, "
        f"{lowered.num_warps} sub-groups of {lowered.sub_group_width}, "
        f"{lowered.num_stages} stages, GRF {lowered.grf_mode}"
    )


def native_words(native: Native) -> str:
    """Return one line about native code."""
    return (
        f"SIMD{native.simd_width}, {native.grf_count} GRF, spilled around {native.spilled}, "
        f"0 undefined symbols, has_dpas {str(native.has_dpas).lower()}"
    )

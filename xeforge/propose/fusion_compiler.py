"""Has the fusion compiler make kernels of the reference, and puts them in front of the kernel.

They are made for fixed shapes. So a proposed file keeps the path of the kernel it was made from,
and takes fused kernels only for exactly the inputs that they were made for. Where smaller shapes
stand for large ones, because Triton's interpreter runs the checks, the same jit functions are
launched at both, or nothing is proposed.
"""

from collections.abc import Sequence
from itertools import product

from xeforge.domain.declined import Declined
from xeforge.domain.declined import DeclineReason
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.fuse.explain import size_text
from xeforge.ports import Assignment
from xeforge.ports import Proposal
from xeforge.propose.entry_edit import MADE_WITH
from xeforge.propose.entry_edit import CannotEnter
from xeforge.propose.entry_edit import Entry
from xeforge.propose.entry_edit import read_entry
from xeforge.propose.entry_edit import with_choice
from xeforge.propose.fused_paths import block_of
from xeforge.propose.fused_sizes import Fused
from xeforge.propose.fused_sizes import Sizes
from xeforge.propose.fused_sources import Compiled
from xeforge.propose.fused_sources import Compiler
from xeforge.propose.fused_sources import Obstacle
from xeforge.propose.rewrite import counted

_MOST_PLANS = 2
_NAMED = 3
"""Workloads that are named in full."""


class FusionCompiler:
    """Proposes kernels from plans of the fusion compiler; everything it has at once."""

    name = "fusion_compiler"

    def propose(self, assignment: Assignment) -> Sequence[Proposal] | Declined:
        """Return files whose fused path is made for the timed shapes, or why there is none."""
        try:
            return self._proposals(assignment)
        except Obstacle as obstacle:
            return Declined(obstacle.reason, _line(obstacle.message))
        except CannotEnter as obstacle:
            return Declined(DeclineReason.ENTRY, _line(str(obstacle)))
        except Exception as error:  # noqa: BLE001 - a fault of the compiler must not end the job
            words = f"the compiler failed with {type(error).__name__}: {error}"
            return Declined(DeclineReason.OWN_FAULT, _line(words))

    def _proposals(self, assignment: Assignment) -> tuple[Proposal, ...]:
        if assignment.round:
            return ()  # all was said in the first one
        if any(each.proposer == self.name for each, _ in assignment.tried):
            raise Obstacle(DeclineReason.NOTHING_NEW, "an earlier stage has tried its plans")
        compiler = Compiler(assignment)
        if assignment.state_mismatch:
            words = f"kernel and reference keep other weights: {assignment.state_mismatch}"
            raise Obstacle(DeclineReason.STATE, words)
        entry = read_entry(assignment.parent.source)
        sizes = Sizes(assignment, entry, compiler)
        if assignment.stage == "algorithmic" and not any(map(_proofs, sizes.timed)):
            words = "no rewrite makes the reference cheaper; what can be fused is another stage's"
            raise Obstacle(DeclineReason.NOTHING_NEW, words)
        found: dict[str, Proposal] = {}
        for plan, rank in product(range(_MOST_PLANS), range(assignment.limit)):
            fused = sizes.fused(plan, rank) if len(found) < assignment.limit else None
            if fused is not None:
                proposal = _proposal(entry, plan, fused)
                found.setdefault(proposal.source, proposal)
        if not found:
            raise Obstacle(DeclineReason.UNCHECKABLE, sizes.complaint)
        return tuple(found.values())


def _line(message: str) -> str:
    """Return a message on one line."""
    return "; ".join(each.strip() for each in message.splitlines() if each.strip())


def _proposal(entry: Entry, plan: int, fused: Fused) -> Proposal:
    made_with = f"self.{MADE_WITH}" if entry.constructor else ""
    block = block_of(fused.paths, entry.inputs, made_with, entry.fresh())
    source = with_choice(entry, block.text, block.method)
    (first, variant), *_ = fused.timed
    return Proposal(
        source,
        _because(plan, first, tuple(variant.tiling.values())),
        {},
        _scope([each for each, _ in fused.timed]),
    )


def _proofs(compiled: Compiled) -> int:
    rewritten = compiled.compilation.rewritten
    return len(rewritten.proofs) if rewritten else 0


def _because(plan: int, first: Compiled, tiles: Sequence[Tile]) -> str:
    """Say what was fused, what that saves by the model, and by which rules and proofs."""
    built = first.built(plan)
    cost = built.candidate.estimate
    statements = len(first.compilation.program.statements)
    summary = (
        f"fusion compiler, plan {built.name}: {counted(cost.kernels, 'kernel')} for "
        f"{counted(statements, 'statement')}, traffic on {first.workload.name} by the model "
        f"{size_text(cost.bytes_before)} -> {size_text(cost.moved_bytes)}"
    )
    words = [
        summary,
        *(f"tile {each.m}x{each.n}x{each.k} in {each.stages} stages" for each in tiles),
    ]
    words += _rules(first)
    return ", ".join(words)


def _rules(compiled: Compiled) -> list[str]:
    """Name the rules that changed the arithmetic, and how far both sides differ in float64."""
    rewritten = compiled.compilation.rewritten
    proofs = rewritten.proofs if rewritten else ()
    if not proofs:
        return []
    names = ", ".join(dict.fromkeys(each.rule for each in proofs))
    residuals = [each.residual for each in proofs if each.residual is not None]
    measured = f", float64 residual at most {max(residuals):.1e}" if residuals else ""
    return [f"algebraic ({counted(len(proofs), 'proof')}: {names}{measured})"]


def _scope(fused: Sequence[Compiled]) -> str:
    made = [f"{each.workload.name} ({_shapes_text(each)})" for each in fused[:_NAMED]]
    more = f" and {len(fused) - _NAMED} more" if len(fused) > _NAMED else ""
    return (
        f"specialised to exactly the inputs of {', '.join(made)}{more}, dense and with the same "
        "constructor arguments: all others take the path of the kernel it was made from"
    )


def _shapes_text(compiled: Compiled) -> str:
    shapes = (f"{each.dtype} {'x'.join(map(str, each.shape))}" for each in compiled.graph.inputs)
    return ", ".join(dict.fromkeys(shapes))

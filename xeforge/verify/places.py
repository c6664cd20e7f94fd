"""Puts wrong elements into words: index, values, share, and the tile that made them."""

import re
from collections.abc import Iterable
from collections.abc import Mapping

from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import MemoryFault
from xeforge.domain.evidence import OutputEvidence
from xeforge.verify.inputs import case_key

_ROWS = re.compile(r"^(BM|.*_M|BLOCK_?ROWS?|ROWS_?BLOCK)$", re.IGNORECASE)
_COLUMNS = re.compile(r"^(BN|.*_N|BLOCK_?COLS?|COLS_?BLOCK)$", re.IGNORECASE)
_FLAT = re.compile(r"^(BLOCK|BLOCK_?SIZE|TILE|TILE_?SIZE)$", re.IGNORECASE)
_BLOCK = re.compile(r"BLOCK|TILE|^B[MN]$", re.IGNORECASE)


def describe_case(case: CaseEvidence) -> str:
    """Return on which inputs, and with which autotune configuration where there are several."""
    how = f" ({case.message})" if case.status is CaseStatus.RAN and case.message else ""
    return f"on {case_key(case.case)}{how}"


def describe_wrong(output: OutputEvidence, build: BuildEvidence | None) -> str:
    """Return where an output is wrong, how much of it, and by what.

    For example ``element [3, 17] is 0.5, expected 1.25; 1,024 of 65,536 wrong (1.6 %), tile
    (0, 1) of 64x64``.
    """
    total = 1
    for size in output.expected_shape:
        total *= size
    share = 100 * output.wrong_count / total if total else 0.0
    text = f"{output.wrong_count:,} of {total:,} wrong ({share:.2g} %)"
    if output.first_wrong is not None:
        index = ", ".join(str(each) for each in output.first_wrong)
        got, expected = _number(output.first_got), _number(output.first_expected)
        text = f"element [{index}] is {got}, expected {expected}; {text}"
    tile = describe_tile(output, build)
    return f"{_of_output(output)}{text}{', ' + tile if tile else ''}"


def describe_tile(output: OutputEvidence, build: BuildEvidence | None) -> str:
    """Return the tile of the first wrong element; empty when no block size is known."""
    if output.first_wrong is None or not output.first_wrong:
        return ""
    for constants in (each.constants for each in (build.reports if build else ())):
        blocks = _block_sizes(constants, len(output.first_wrong))
        if blocks:
            place = output.first_wrong[-len(blocks) :]
            at = ", ".join(str(i // size) for i, size in zip(place, blocks, strict=True))
            comma = "," if len(blocks) == 1 else ""
            return f"tile ({at}{comma}) of {'x'.join(str(size) for size in blocks)}"
    return ""


def describe_fault(fault: MemoryFault) -> str:
    """Return which access left which tensor, by how much and in which program."""
    where = "before its start" if fault.offset_bytes < 0 else "from its start"
    program = f", program {fault.program}" if fault.program else ""
    kernel = f" in {fault.kernel}" if fault.kernel else ""
    return (
        f"out-of-bounds {fault.access} of {fault.argument}{kernel}: byte "
        f"{abs(fault.offset_bytes):,} {where}{program}"
    )


def listed(texts: Iterable[str], limit: int = 3) -> str:
    """Join texts, naming at most `limit` of them and counting the rest."""
    each = list(dict.fromkeys(texts))
    rest = len(each) - limit
    shown = "; ".join(each[:limit])
    return f"{shown}; and {rest} more" if rest > 0 else shown


def _of_output(output: OutputEvidence) -> str:
    return f"output {output.index}: " if output.index else ""


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.6g}"


def _block_sizes(constants: Mapping[str, str], rank: int) -> tuple[int, ...]:
    sizes = {
        name: int(value)
        for name, value in constants.items()
        if value.isdecimal() and int(value) > 0 and _BLOCK.search(name)
    }
    if rank > 1:
        rows = [size for name, size in sizes.items() if _ROWS.match(name)]
        columns = [size for name, size in sizes.items() if _COLUMNS.match(name)]
        return (rows[0], columns[0]) if len(rows) == len(columns) == 1 else ()
    flat = [size for name, size in sizes.items() if _FLAT.match(name)]
    return (flat[0],) if len(flat) == 1 else ()

"""Reads what Intel's compilers leave behind: TTGIR, LLVM IR, the log of ocloc and its ELF file.

Uses the standard library alone: nothing else is in the environment that it runs in.
"""

import re
import struct
from typing import Any

_DPAS_LAYOUT = re.compile(r"#triton_intel_gpu\.dpas<\{(.*?)\}>")
_CALL = re.compile(r"\bcall\b[^@\n]*@([\w.]+)")
_DPAS_CALL = re.compile(r"intel_sub_group_(\w+?)_(\w+?)_matrix_mad_k\d+")
_FOREIGN = re.compile(r"__nv_\w+|__ocml_\w+")
_SPILLED = re.compile(r"spilled around (\d+)")
_FIELD = re.compile(r"^\s*(grf_count|simd_size|has_dpas):\s*(\S+)", re.MULTILINE)
_ELF_MAGIC = b"\x7fELF\x02\x01"
_SYMBOL = struct.Struct("<IBBHQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")


def read_lowered(ttgir: str, llir: str) -> dict[str, Any]:
    """Return what the intermediate texts of one kernel say about matrix units and block IO."""
    calls = _CALL.findall(llir)
    products = [found.groups() for each in calls if (found := _DPAS_CALL.search(each))]
    return {
        "dpas_layouts": list(dict.fromkeys(_DPAS_LAYOUT.findall(ttgir))),
        "dpas_calls": len(products),
        "dpas_operands": sorted({operand for pair in products for operand in pair}),
        "block_reads": sum("2d_block_read" in each for each in calls),
        "block_writes": sum("2d_block_write" in each for each in calls),
        "prefetches": sum("2d_block_prefetch" in each for each in calls),
        "foreign": sorted({each for each in calls if _FOREIGN.fullmatch(each)}),
    }


def read_native(log: str, binary: bytes) -> dict[str, Any]:
    """Return what ocloc says of one kernel, and what its binary says.

    Args:
        log: What ocloc printed.
        binary: The ELF file it wrote.

    Raises:
        ValueError: The binary is no such file, or does not describe its kernel.
    """
    sections = _sections(binary)
    if ".ze_info" not in sections:
        raise ValueError("the binary has no .ze_info")
    fields = dict(_FIELD.findall(sections[".ze_info"].decode(errors="replace")))
    spilled = _SPILLED.search(log)
    return {
        "simd_width": int(fields["simd_size"]) if "simd_size" in fields else None,
        "grf_count": int(fields["grf_count"]) if "grf_count" in fields else None,
        "spilled": int(spilled.group(1)) if spilled else 0,
        "has_dpas": fields.get("has_dpas") == "true",
        "undefined": _undefined(sections),
    }


def _sections(binary: bytes) -> dict[str, bytes]:
    """Return the contents of an ELF file's sections by name."""
    if not binary.startswith(_ELF_MAGIC):
        raise ValueError("the binary is no little-endian 64-bit ELF file")
    try:
        (table,) = struct.unpack_from("<Q", binary, 40)
        size, count, names_index = struct.unpack_from("<HHH", binary, 58)
        headers = [_SECTION.unpack_from(binary, table + size * each) for each in range(count)]
        parts = [binary[header[4] : header[4] + header[5]] for header in headers]
        names = [_text(parts[names_index], header[0]) for header in headers]
    except (struct.error, IndexError) as error:
        raise ValueError(f"the ELF file is cut off: {error}") from None
    return dict(zip(names, parts, strict=True))


def _undefined(sections: dict[str, bytes]) -> list[str]:
    """Return the names of symbols that another file would have to define.

    Raises:
        ValueError: There is no symbol table, so nothing can be said.
    """
    if ".symtab" not in sections or ".strtab" not in sections:
        raise ValueError("the binary has no symbol table")
    table = sections[".symtab"]
    whole = len(table) // _SYMBOL.size * _SYMBOL.size
    return sorted(
        _text(sections[".strtab"], name)
        for name, _, _, section, _, _ in _SYMBOL.iter_unpack(table[:whole])
        if section == 0 and name != 0
    )


def _text(strings: bytes, start: int) -> str:
    return strings[start : strings.index(b"\0", start)].decode(errors="replace")

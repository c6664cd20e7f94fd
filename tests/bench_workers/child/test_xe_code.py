"""What is read out of the texts and files of Intel's compilers, from short recordings."""

import struct
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).parents[3] / "bench_workers" / "child"

TTGIR = """#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 4]}>
#mma = #triton_intel_gpu.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16}>
"""
LLIR = """
declare spir_func <8 x float> @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f(<8 x i16>)
  call spir_func void @_Z45intel_sub_group_2d_block_prefetch_16b_4r16x2cPU3AS1viiiDv2_i(ptr %1)
  call spir_func void @_Z42intel_sub_group_2d_block_read_16b_16r16x2cPU3AS1viiiDv2_iPt(ptr %2)
  call void @_Z52intel_sub_group_2d_block_read_transform_16b_32r16x2cPU3AS1viiiDv2_iPj(ptr %3)
  %4 = tail call float @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f(i16 %5)
  %6 = call float @__nv_tanhf(float %7)
  call spir_func void @_Z42intel_sub_group_2d_block_write_16b_8r16x1cPU3AS1viiiDv2_iPt(ptr %8)
"""
SPILLED = "warning: kernel mm  compiled SIMD16 allocated 128 regs and spilled around 86\n"
ZE_INFO = """kernels:
  - name:            mm
    user_attributes:
      intel_reqd_sub_group_size: 16
    execution_env:
      grf_count:       128
      has_dpas:        true
      simd_size:       16
"""


@pytest.fixture
def xe_code(monkeypatch):
    monkeypatch.syspath_prepend(str(CHILD))
    import xe_code

    yield xe_code
    sys.modules.pop("xe_code")


def elf(ze_info: str = ZE_INFO, *, undefined: tuple[str, ...] = ()) -> bytes:
    """Write an ELF file as ocloc does: names, symbols and .ze_info, sections listed at the end."""
    strings, symbols = b"\0mm\0", struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    symbols += struct.pack("<IBBHQQ", 1, 2, 0, 1, 0, 64)
    for name in undefined:
        symbols += struct.pack("<IBBHQQ", len(strings), 16, 0, 0, 0, 0)
        strings += name.encode() + b"\0"
    names = b"\0.ze_info\0.symtab\0.strtab\0"
    parts = [(1, ze_info.encode()), (10, symbols), (18, strings), (0, names)]
    body, headers = b"", struct.pack("<IIQQQQIIQQ", *[0] * 10)
    for name, part in parts:
        headers += struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, 64 + len(body), len(part), 0, 0, 1, 0)
        body += part
    start = struct.pack("<QQQ", 0, 0, 64 + len(body)) + struct.pack("<I", 0)
    start += struct.pack("<HHHHHH", 64, 0, 0, 64, 5, 4)
    return b"\x7fELF\x02\x01\x01".ljust(24, b"\0") + start + body + headers


def test_calls_are_counted_and_declarations_are_not(xe_code):
    assert xe_code.read_lowered(TTGIR, LLIR) == {
        "dpas_layouts": ["repeatCount = 8, systolicDepth = 8, executionSize = 16"],
        "dpas_calls": 1,
        "dpas_operands": ["f16"],
        "block_reads": 2,
        "block_writes": 1,
        "prefetches": 1,
        "foreign": ["__nv_tanhf"],
    }


def test_a_binary_tells_its_lanes_registers_and_spills(xe_code):
    assert xe_code.read_native(SPILLED, elf()) == {
        "simd_width": 16,
        "grf_count": 128,
        "spilled": 86,
        "has_dpas": True,
        "undefined": [],
    }


def test_symbols_that_nothing_defines_are_found_whatever_the_log_says(xe_code):
    missing = ("intel_sub_group_2d_block_read", "intel_sub_group_2d_block_write")
    read = xe_code.read_native("Build succeeded.\n", elf(undefined=missing))
    assert read["undefined"] == sorted(missing)
    assert read["spilled"] == 0


def test_matrix_instructions_that_are_gone_are_seen(xe_code):
    without = ZE_INFO.replace("      has_dpas:        true\n", "")
    assert xe_code.read_native("", elf(without))["has_dpas"] is False


@pytest.mark.parametrize("binary", [b"", b"Intel GPU binary", elf()[:-40], elf()[:70]])
def test_a_file_that_cannot_be_read_is_no_silent_success(xe_code, binary):
    with pytest.raises(ValueError, match=r"ELF|symbol table|ze_info|section|substring|subsection"):
        xe_code.read_native("Build succeeded.\n", binary)

"""Device files are read strictly, and what they say is physically sound."""

import copy
import dataclasses
from pathlib import Path

import pytest

from knowledge import load
from knowledge.load import DEVICES
from knowledge.load import device_for_product
from knowledge.load import find_device
from knowledge.load import load_devices
from knowledge.load import read_device
from xeforge.domain.codec import dumps
from xeforge.domain.codec import loads
from xeforge.domain.device import CompileTarget
from xeforge.domain.device import Device
from xeforge.domain.device import MatrixShape
from xeforge.domain.device import Tile
from xeforge.errors import BadRequest
from xeforge.errors import BadSpec

GOOD = (DEVICES / "nvidia-h200.yaml").read_text(encoding="utf-8")
EVERY = pytest.mark.parametrize("device", load_devices().values(), ids=lambda each: each.name)
NUMBERS = {field.name for field in dataclasses.fields(Device)} - {
    "name",
    "title",
    "vendor",
    "backend",
    "sources",
    "constraints",
}


PROMISED = """
amd-mi300x generic-cpu
intel-140v intel-a770 intel-b570 intel-b580 intel-max-1550
intel-pro-b50 intel-pro-b60 intel-pro-b70
nvidia-a10 nvidia-a100 nvidia-b200 nvidia-h100-pcie nvidia-h100-sxm nvidia-h200
nvidia-l4 nvidia-l40s
nvidia-rtx-4090 nvidia-rtx-5090
"""


def test_the_promised_devices_are_there_under_their_file_names() -> None:
    assert list(load_devices()) == PROMISED.split()
    assert all(name == device.name for name, device in load_devices().items())
    assert {path.stem for path in DEVICES.iterdir()} == set(load_devices())


def test_the_h200_is_as_published() -> None:
    device = find_device("nvidia-h200")
    assert device.backend == "cuda"
    assert device.compile_target == CompileTarget("cuda", 90, 32)
    assert device.compute_units == 132
    assert device.bandwidth_bytes_per_s == 4.8e12
    assert device.l2_bytes == 60 * 2**20
    assert device.l2_bandwidth_bytes_per_s is None
    assert device.matrix_flops_per_s["float16"] == 989.4e12
    assert device.vector_flops_per_s["float32"] == 66.9e12
    assert device.peak_flops_per_s("float64") == 66.9e12
    assert device.shared_bytes_per_group == 227 * 2**10
    assert device.shared_bytes_per_unit == 228 * 2**10
    assert device.registers_per_thread == 255
    assert device.num_warps == (1, 2, 4, 8, 16, 32)
    assert device.tiles[0] == Tile(128, 256, 64, 8, 3)
    assert device.sources["threads_per_unit"] == (
        "documented: CUDA C++ Programming Guide, compute capabilities, column 9.0"
    )
    assert device.sources["matrix_flops_per_s.tf32"].startswith("documented: NVIDIA H100")


def test_the_b580_multiplies_no_tf32() -> None:
    device = find_device("intel-b580")
    assert device.backend == "xpu"
    assert "tf32" not in device.matrix_flops_per_s
    assert device.matrix_flops_per_s["int8"] == 233e12
    assert device.bandwidth_bytes_per_s == 456e9
    assert device.lane_counts == (16, 32)
    assert device.num_warps[-1] * device.lane_counts[0] == device.threads_per_group
    assert device.registers_per_thread is None


def test_the_generic_cpu_promises_nothing() -> None:
    device = find_device("generic-cpu")
    assert device.compile_target is None
    assert device.tiles == ()
    assert all(each.startswith("claimed: ") for each in device.sources.values())


@EVERY
def test_every_number_has_a_source_and_a_strength(device) -> None:
    named = {key.partition(".")[0] for key in device.sources}
    for name in NUMBERS:
        value = getattr(device, name)
        assert name in named or value in (None, {}, ()), name
    for dtype in device.matrix_flops_per_s:
        assert f"matrix_flops_per_s.{dtype}" in device.sources
    for text in device.sources.values():
        strength, _, source = text.partition(": ")
        assert strength in {"measured", "documented", "claimed"}
        assert len(source) > 10 or device.vendor == "generic"


def test_what_the_issue_asks_of_devices_is_known_where_it_is_published() -> None:
    h200, b580, a770 = (find_device(n) for n in ("nvidia-h200", "intel-b580", "intel-a770"))
    assert MatrixShape("float16", 64, 256, 16) in h200.matrix_shapes
    assert MatrixShape("float16", 8, 16, 16) in b580.matrix_shapes
    assert MatrixShape("float16", 8, 8, 16) in a770.matrix_shapes
    assert [mode.num_warps for mode in b580.register_modes] == [64, 32]
    assert b580.block_load is not None
    assert b580.block_load.max_rows_store == 8
    assert a770.block_load is None
    assert h200.triton is not None
    assert h200.triton.options == ("num_ctas", "maxnreg")
    assert find_device("nvidia-a100").triton.options == ("maxnreg",)
    assert "fp8e4nv" not in find_device("nvidia-a100").triton.fp8_formats
    assert find_device("amd-mi300x").triton.dot_precisions[0] == "ieee"
    assert find_device("amd-mi300x").compile_target == CompileTarget("hip", "gfx942", 64)


def test_cards_of_one_capability_share_its_limits() -> None:
    groups: dict[object, set[tuple[object, ...]]] = {}
    for device in load_devices().values():
        if device.vendor == "nvidia":
            limits = (
                device.shared_bytes_per_group,
                device.threads_per_unit,
                device.groups_per_unit,
                device.triton,
            )
            groups.setdefault(device.compile_target.arch, set()).add(limits)
    assert set(groups) == {80, 86, 89, 90, 100, 120}
    assert all(len(limits) == 1 for limits in groups.values())


@EVERY
def test_tiles_fit_their_device(device) -> None:
    for tile in device.tiles:
        operands = (tile.m + tile.n) * tile.k * 2 * tile.num_stages
        assert operands <= device.shared_bytes_per_group
        assert tile.num_warps in device.num_warps
        assert tile.num_stages in device.num_stages
    assert len(set(device.tiles)) == len(device.tiles)


@EVERY
def test_devices_are_plain_values(device) -> None:
    assert loads(Device, dumps(device)) == device
    assert copy.deepcopy(device) == device
    assert dataclasses.asdict(device)["name"] == device.name


def test_products_are_matched_exactly_but_for_case() -> None:
    assert device_for_product("NVIDIA H200") is find_device("nvidia-h200")
    assert device_for_product("Intel(R) Arc(TM) B580 Graphics") is find_device("intel-b580")
    for other in ("NVIDIA H200 NVL", "NVIDIA H100", "H200", ""):
        assert device_for_product(other) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nvidia-h20", "did you mean 'nvidia-h200'?"),
        ("NVIDIA-H200", "did you mean 'nvidia-h200'?"),
        ("intel-b58", "did you mean 'intel-b580'?"),
        ("toaster", "no device model is called 'toaster'"),
        ("", "no device model is called ''"),
    ],
)
def test_unknown_names_get_the_nearest_one(name, words) -> None:
    with pytest.raises(BadRequest) as caught:
        find_device(name)
    assert words in str(caught.value)
    assert "use one of: amd-mi300x, generic-cpu, intel-140v" in str(caught.value)


@pytest.fixture
def read_changed(tmp_path: Path):
    """Read the good file with one piece of text replaced."""

    def read(old: str, new: str) -> Device:
        assert GOOD.count(old) >= 1
        path = tmp_path / "nvidia-h200.yaml"
        path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
        return read_device(path)

    return read


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(GOOD.splitlines(), start=1) if text in line)


@pytest.mark.parametrize(
    ("old", "new", "field", "words"),
    [
        (
            "bandwidth_bytes_per_s:",
            "bandwidth_gb_per_s:",
            "bandwidth_gb_per_s",
            "did you mean 'bandwidth_bytes_per_s'",
        ),
        ("value: 4.8e12", "value: 4800", "bandwidth_bytes_per_s.value", "greater than or equal"),
        ("value: 4.8e12", "value: -4.8e12", "bandwidth_bytes_per_s.value", "greater than or equal"),
        ("value: 4.8e12", "value: fast", "bandwidth_bytes_per_s.value", "a number is expected"),
        ("value: 4.8e12", "value: true", "bandwidth_bytes_per_s.value", "valid number"),
        ("value: 4.8e12", "value: nan", "bandwidth_bytes_per_s.value", "found 'nan'"),
        ("value: 4.8e12", "value: .inf", "bandwidth_bytes_per_s.value", "found inf"),
        ("value: 3.0e-6", "value: 3.0", "launch_seconds.value", "less than or equal"),
        ("{value: 66.9e12,", "{value: 66.9,", "matrix_flops_per_s.float64.value", "greater than"),
        ("  int8:", "  int5:", "matrix_flops_per_s.int5.[key]", "called 'int5'"),
        ("value: 132", "value: 132.0", "compute_units.value", "valid integer"),
        ("value: 132", "value: 0", "compute_units.value", "greater than or equal to 1"),
        ("value: [32]", "value: [33]", "lane_counts.value[0]", "33 is no power of two"),
        ("[1, 2, 4, 8, 16, 32]", "[1, 4, 2]", "num_warps.value", "ascending"),
        ("[1, 2, 4, 8, 16, 32]", "[1, 2, 4, 8, 64]", "num_warps", "64 warps of 32 lanes are 2048"),
        ("vendor: nvidia", "vendor: acme", "vendor", "found 'acme'"),
        ("[nvidia h200]", "[NVIDIA H200]", "match.value[0]", "lower case"),
        ("name: nvidia-h200", "name: nvidia-h100", "name", "'nvidia-h100', the file 'nvidia-h200'"),
        ("value: 232448", "value: 233473", "shared_bytes_per_group", "more than its unit"),
        ("num_stages: 5}", "num_stages: 9}", "tiles.value[9].num_stages", "9 is not among"),
        (
            "- {m: 128, n: 256, k: 64, num_warps: 8",
            "- {m: 128, n: 256, k: 256, num_warps: 8",
            "tiles.value[0]",
            "need 589824 bytes",
        ),
        ("{m: 128, n: 256,", "{m: 128,", "tiles.value[0].n", "'n' is missing"),
        ("{m: 128, n: 256,", "{m: 100, n: 256,", "tiles.value[0].m", "100 is no power of two"),
        ("  strength: measured", "  strength: sure", "match.strength", "found 'sure'"),
        ("  strength: measured\n", "", "match.strength", "'strength' is missing"),
        ("source: product name", "origin: product name", "match.origin", "unknown key"),
        ("title: NVIDIA H200 SXM", "title: ''", "title", "at least 1 character"),
        ("backend: cuda, arch: 90", "backend: cuda, arch: 9.5", "compile_target.value.arch", "9.5"),
        ("value: hopper", "value: hoper", "architecture.value", "found 'hoper'"),
        ("dtype: int8, m: 64", "dtype: int4, m: 64", "matrix_shapes.value[6].dtype", "'int4'"),
        ("dtype: int8, m: 64", "dtype: float32, m: 64", "matrix_shapes.value[6].dtype", "no rate"),
        ("[num_ctas, maxnreg]", "[num_cta]", "triton.value.options[0]", "found 'num_cta'"),
        ("base_alignment_bytes: 16", "base_alignment_bytes: 12", "block_load.value", "no power of"),
        ("value: 132", "value: 132\n  value: 133", "compute_units.value", "given twice"),
        ("value: 132", "value: [132", None, "not valid YAML"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(read_changed, old, new, field, words) -> None:
    with pytest.raises(BadSpec) as caught:
        read_changed(old, new)
    error = caught.value
    assert words in error.message
    assert error.file.endswith("/nvidia-h200.yaml")
    assert error.line is not None
    assert error.remedy
    if field is not None:
        assert error.field is not None
        assert error.field.startswith(field.partition(".[key]")[0])
        assert abs(error.line - line_of(old.strip())) <= 3


def test_unknown_keys_are_refused_with_the_nearest_known(read_changed) -> None:
    with pytest.raises(BadSpec, match="unknown key; did you mean 'compute_units'") as caught:
        read_changed("compute_units:", "compute_unit: 3\ncompute_units:")
    assert caught.value.field == "compute_unit"
    assert caught.value.line == line_of("compute_units:")


def test_what_is_not_known_must_be_said(read_changed) -> None:
    device = read_changed(
        "registers_per_unit: {value: 65536, source: *features, strength: documented}",
        "registers_per_unit: null",
    )
    assert device.registers_per_unit is None
    assert "registers_per_unit" not in device.sources
    with pytest.raises(BadSpec, match="'l2_bandwidth_bytes_per_s' is missing") as caught:
        read_changed("l2_bandwidth_bytes_per_s: null", "")
    assert "null" in caught.value.remedy


@pytest.mark.parametrize("text", ["", "- 1\n", "just words\n", "# nothing\n"])
def test_files_that_describe_nothing_are_refused(tmp_path: Path, text) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadSpec) as caught:
        read_device(path)
    assert caught.value.file == str(path)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with pytest.raises(BadSpec, match="cannot be read"):
        read_device(path)
    path.write_bytes(b"name: \xff\xfe")
    with pytest.raises(BadSpec, match="cannot be read"):
        read_device(path)


def test_a_product_belongs_to_one_model(tmp_path: Path) -> None:
    (tmp_path / "nvidia-h200.yaml").write_text(GOOD, encoding="utf-8")
    twin = GOOD.replace("name: nvidia-h200", "name: twin", 1)
    (tmp_path / "twin.yaml").write_text(twin, encoding="utf-8")
    with pytest.raises(BadSpec, match="'nvidia h200' is claimed by nvidia-h200 and twin"):
        load_devices(tmp_path)


def test_files_are_read_once(monkeypatch) -> None:
    monkeypatch.setattr(load, "read_device", None)
    assert load_devices() is load_devices()

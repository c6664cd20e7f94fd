"""Every family compiles for targets that are not here."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.xeforge.fusion.emit.triton.sources import TARGET
from tests.xeforge.fusion.emit.triton.sources import columns
from tests.xeforge.fusion.emit.triton.sources import emitted
from tests.xeforge.fusion.emit.triton.sources import nest
from tests.xeforge.fusion.emit.triton.sources import one_kernel_of_all
from tests.xeforge.fusion.emit.triton.sources import plan_of
from tests.xeforge.fusion.emit.triton.sources import points
from tests.xeforge.fusion.emit.triton.sources import product
from tests.xeforge.fusion.emit.triton.sources import riders
from tests.xeforge.fusion.emit.triton.sources import rows
from tests.xeforge.fusion.emit.triton.sources import shapes_of
from xeforge.fusion.emit.triton.tile import Tile

CHILD = Path(__file__).with_name("ahead.py")
HOPPER = ["cuda", 90, 32]
TARGETS = {"hopper": HOPPER, "cdna3": ["hip", "gfx942", 64], "rdna3": ["hip", "gfx1100", 32]}
SMALL_TILE = Tile(64, 64, 32, warps=4, stages=3, precision="tf32x3")


def case(graph, **options):
    recorder, *outputs = graph
    return {"source": emitted(recorder, *outputs, **options), "shapes": shapes_of(recorder)}


def tiled(graph, *tiles):
    recorder, *outputs = graph
    group = plan_of(recorder, *outputs).groups[0]
    return case(graph, tiles={group.name: tiles})


def cases():
    long_rows = replace(TARGET, longest_row=256, chunk=256)
    persistent = replace(SMALL_TILE, form="persistent", parts=2)
    return {
        "points": case(points()),
        "rows": case(rows()),
        "long rows": case(rows(), target=long_rows),
        "columns": case(columns()),
        "long columns": case(columns("bfloat16"), target=long_rows),
        "ragged columns": case(columns("float32", (300, 999), "amax")),
        "riders": case(riders()),
        "nest": case(nest()),
        "pointers": tiled(product(), SMALL_TILE),
        "persistent": tiled(product(), persistent),
        "descriptors": tiled(product("bfloat16"), replace(SMALL_TILE, form="descriptors")),
        "beside": tiled(product(sizes=(256, 192, 64)), replace(persistent, parts=1, beside=32)),
        "hosted": tiled(product(), replace(persistent, is_hosted=True)),
        "in parts": tiled(product(), replace(SMALL_TILE, form="descriptors", splits=2)),
        "copied": tiled(product(sizes=(100, 90, 70)), replace(persistent, pads=True)),
        "full precision": tiled(product("float32"), SMALL_TILE),
        "ragged": tiled(product(sizes=(100, 90, 70)), SMALL_TILE),
        "softmax": tiled(product(after=("softmax",)), replace(SMALL_TILE, n=128)),
        "pieces": tiled(product(after=("group_norm",)), SMALL_TILE),
        "functions": {
            "source": one_kernel_of_all("float32"),
            "shapes": [[[64], "float32"]] * 2,
        },
        "several": tiled(product(), SMALL_TILE, replace(SMALL_TILE, m=32)),
    }


def compiled(files, targets, folder):
    request = json.dumps({"targets": targets, "files": files})
    variables = {**os.environ, "TRITON_CACHE_DIR": str(folder)}
    variables.pop("TRITON_INTERPRET", None)
    done = subprocess.run(
        [sys.executable, CHILD],
        input=request,
        capture_output=True,
        text=True,
        env=variables,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def on_hopper(tmp_path_factory):
    named = cases()
    found = compiled(list(named.values()), [HOPPER], tmp_path_factory.mktemp("cache"))
    return {
        name: [each for launch in launches for each in launch["found"]]
        for name, launches in zip(named, found, strict=True)
    }


def test_each_family_compiles_into_one_kernel(on_hopper):
    assert {name: len(found) for name, found in on_hopper.items()} == {
        **dict.fromkeys(on_hopper, 1),
        "several": 2,
        "in parts": 2,
        "copied": 3,
    }


def test_products_use_the_matrix_unit(on_hopper):
    without = {"points", "rows", "long rows", "nest", "functions"}
    without |= {"columns", "long columns", "ragged columns", "riders"}
    used = {name for name, found in on_hopper.items() if any(e["tensor_core"] for e in found)}
    assert set(on_hopper) - used == without


def test_dense_rows_and_points_are_read_sixteen_bytes_at_a_time(on_hopper):
    names = ("points", "rows", "long rows", "columns", "long columns")
    assert all(on_hopper[name][0]["is_vectorised"] for name in names)


def test_shared_memory_stays_within_the_target(on_hopper):
    assert max(each["shared"] for found in on_hopper.values() for each in found) < 232448


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cdna3", "rdna3"])
def test_each_family_compiles_for_amd(name, tmp_path):
    named = cases()
    without = {"persistent", "descriptors", "beside", "hosted", "in parts", "copied"}
    named = {key: each for key, each in named.items() if key not in without}
    named["in parts"] = tiled(product(), replace(SMALL_TILE, splits=2))
    named["full precision"] = tiled(product("float32"), replace(SMALL_TILE, precision="ieee"))
    found = compiled(list(named.values()), [TARGETS[name]], tmp_path)
    assert all(launches for launches in found)

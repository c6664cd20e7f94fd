"""What the cost model knows of a target, as numbers with units."""

from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.domain.device import Device
from xeforge.fusion.fuse.memory import PROGRAMS_PER_UNIT


@dataclass(frozen=True, slots=True)
class Machine:
    """One target of the fusion compiler.

    Attributes:
        name: Said in notes.
        units: Programs that run at once: multiprocessors of a GPU, threads of a CPU.
        bandwidth_bytes_per_s: Of device memory, as a copy reaches it.
        matrix_flops_per_s: Rate of contractions by dtype of their factors; ``""`` for all others.
        vector_flops_per_s: Rate of everything else.
        launch_seconds: From the end of one kernel to the start of the next.
        most_columns: Elements of ``n`` that one tile of a contraction may hold, which folds
            over ``n`` need.
        most_row_elements: Of a row that stays on chip; longer rows are read once per fold.
        nests_take_pointwise: Whether the emitter computes pointwise statements in the kernel of
            a nest.
        contracts_windows: Whether the emitter reads factors of contractions through guards and
            windows, which makes contractions of convolutions.
        has_matrix_units: Whether sums of products may become contractions; without, they are rows.
        walks_down: Whether a program takes many rows side by side where memory runs along these
            (`xeforge.fusion.fuse.memory`).
        takes_riders: Whether a launch can do the work of small groups beside that of a large one.
        programs_per_unit: That keep memory busy, where there are no products.
    """

    name: str
    units: int
    bandwidth_bytes_per_s: float
    matrix_flops_per_s: Mapping[str, float]
    vector_flops_per_s: float
    launch_seconds: float
    most_columns: int
    most_row_elements: int
    nests_take_pointwise: bool = False
    contracts_windows: bool = False
    has_matrix_units: bool = True
    walks_down: bool = False
    takes_riders: bool = False
    programs_per_unit: int = 1


H200 = Machine(
    name="nvidia-h200",
    units=132,
    bandwidth_bytes_per_s=4.0e12,
    matrix_flops_per_s={"float16": 7.0e14, "bfloat16": 7.0e14, "float32": 1.5e14, "": 3.0e13},
    vector_flops_per_s=3.0e13,
    launch_seconds=4e-6,
    most_columns=256,
    most_row_elements=32768,
    walks_down=True,
    takes_riders=True,
    programs_per_unit=PROGRAMS_PER_UNIT,
)
"""Starting values; a measured card replaces them."""

CPU = Machine(
    name="cpu",
    units=2,
    bandwidth_bytes_per_s=2.0e10,
    matrix_flops_per_s={"float32": 2.0e11, "": 5.0e10},
    vector_flops_per_s=2.0e10,
    launch_seconds=5e-6,
    most_columns=16384,
    most_row_elements=65536,
)
"""Two threads of a server; a measured machine replaces it."""

_REACHED = 0.85
"""Part of the published bandwidth that a copy reaches."""
_MATRIX_REACHED = 0.7
"""Part of the published matrix rate that a product reaches."""
_PRODUCTS_OF_FULL = 3
"""Products of narrower factors that make one of float32 without loss."""
_MOST_COLUMNS = 256
_MOST_ROW_ELEMENTS = 32768


def machine_of(device: Device) -> Machine:
    """Return the cost model's view of a model of accelerator, from its published numbers."""
    rates = {
        dtype: _MATRIX_REACHED * rate
        for dtype, rate in device.matrix_flops_per_s.items()
        if dtype in {"float16", "bfloat16", "float64"}
    }
    vector = device.vector_flops_per_s.get("float32", 1e12)
    narrow = device.matrix_flops_per_s.get("tf32")
    rates["float32"] = vector if narrow is None else _MATRIX_REACHED * narrow / _PRODUCTS_OF_FULL
    rates[""] = vector
    return Machine(
        name=device.name,
        units=device.compute_units,
        bandwidth_bytes_per_s=_REACHED * device.bandwidth_bytes_per_s,
        matrix_flops_per_s=rates,
        vector_flops_per_s=vector / 2,
        launch_seconds=device.launch_seconds,
        most_columns=_MOST_COLUMNS,
        most_row_elements=_MOST_ROW_ELEMENTS,
        walks_down=True,
        takes_riders=True,
        programs_per_unit=PROGRAMS_PER_UNIT,
    )

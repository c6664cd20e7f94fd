"""What the cost model knows of a target, as numbers with units."""

from collections.abc import Mapping
from dataclasses import dataclass


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
    """

    name: str
    units: int
    bandwidth_bytes_per_s: float
    matrix_flops_per_s: Mapping[str, float]
    vector_flops_per_s: float
    launch_seconds: float
    most_columns: int
    most_row_elements: int


H200 = Machine(
    name="nvidia-h200",
    units=132,
    bandwidth_bytes_per_s=4.0e12,
    matrix_flops_per_s={"float16": 7.0e14, "bfloat16": 7.0e14, "float32": 1.5e14, "": 3.0e13},
    vector_flops_per_s=3.0e13,
    launch_seconds=4e-6,
    most_columns=256,
    most_row_elements=32768,
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

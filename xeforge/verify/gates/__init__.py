"""One static rule per file; each reads the syntax tree only and never stops the others."""

from collections.abc import Callable
from typing import Final

from xeforge.domain.evidence import Finding
from xeforge.verify.gates import constraints
from xeforge.verify.gates import hardware
from xeforge.verify.gates import host_code
from xeforge.verify.gates import policy
from xeforge.verify.gates import reach
from xeforge.verify.gates import structure
from xeforge.verify.gates import syntax
from xeforge.verify.gates import tampering
from xeforge.verify.reading import GateContext

Gate = Callable[[GateContext], tuple[Finding, ...]]

GATES: Final[tuple[tuple[str, Gate], ...]] = tuple(
    (module.NAME, module.inspect)
    for module in (syntax, structure, policy, reach, tampering, host_code, hardware, constraints)
)

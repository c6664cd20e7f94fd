"""Who must run before whom.

With one writer per array there is one kind of dependence: from the point that writes an element to
the points that read it. Nothing is ever overwritten, so no order is needed for any other reason.
"""

from dataclasses import dataclass

from xeforge.fusion import isl
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Program


@dataclass(frozen=True, slots=True)
class Dependence:
    """One read of an array that a statement writes.

    Attributes:
        source: Name of the statement that writes.
        target: Name of the statement that reads.
        access: The read.
        relation: From points of the parallel axes of the source to points of the target.
    """

    source: str
    target: str
    access: Access
    relation: isl.Relation


def flow_dependences(program: Program) -> tuple[Dependence, ...]:
    """Return all dependences, by reading statement; each read of a statement once.

    Raises:
        TooHard: A relation took more work than it may.
    """
    writers = program.writers()
    found = []
    for stmt in program.statements:
        for read in dict.fromkeys(stmt.reads()):
            writer = writers.get(read.access.array)
            if writer is not None:
                relation = isl.flow(writer, stmt, read.access, read.conditions)
                found.append(Dependence(writer.name, stmt.name, read.access, relation))
    return tuple(found)

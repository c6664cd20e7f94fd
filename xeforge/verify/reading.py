"""A candidate and the submitted kernel, both parsed, for the static rules."""

import ast
from dataclasses import dataclass

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.source.contents import KernelContents
from xeforge.source.contents import parse
from xeforge.source.contents import read_contents
from xeforge.source.imports import ImportTable
from xeforge.source.imports import read_imports


@dataclass(frozen=True, slots=True)
class Reading:
    """One file, parsed.

    Attributes:
        tree: Syntax tree.
        contents: What the file declares.
        imports: What its names stand for.
    """

    tree: ast.Module
    contents: KernelContents
    imports: ImportTable

    @classmethod
    def of(cls, source: str, path: str) -> "Reading":
        """Parse a file.

        Raises:
            BadKernel: It is no Python text.
        """
        tree = parse(source, path)
        contents = read_contents(source, path, require_kernel=False)
        return cls(tree, contents, read_imports(tree))


@dataclass(frozen=True, slots=True)
class GateContext:
    """Everything a static rule may look at.

    Attributes:
        problem: The question.
        device: Model that is optimized for.
        candidate: The source to judge.
        submitted: The kernel it must stay comparable with.
    """

    problem: Problem
    device: Device
    candidate: Reading
    submitted: Reading

    @classmethod
    def of(cls, problem: Problem, source: str, device: Device) -> "GateContext":
        """Parse both files.

        Raises:
            BadKernel: One of them is no Python text.
        """
        return cls(
            problem=problem,
            device=device,
            candidate=Reading.of(source, "candidate.py"),
            submitted=Reading.of(problem.kernel.text, problem.kernel.path),
        )

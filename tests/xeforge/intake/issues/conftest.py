import textwrap
from collections.abc import Callable
from types import ModuleType

import pytest

from xeforge.domain.issue import Issue
from xeforge.source.contents import read_contents
from xeforge.source.facts import read_facts

HEAD = """\
import torch
import torch.nn as nn
import triton
import triton.language as tl
"""


@pytest.fixture(scope="session")
def detect() -> Callable[..., tuple[Issue, ...]]:
    """Run one detector on a source; four lines of imports stand before it."""

    def run(detector: ModuleType, source: str, reference: str | None = None) -> tuple[Issue, ...]:
        text = HEAD + textwrap.dedent(source)
        other = None
        if reference is not None:
            plain = HEAD + textwrap.dedent(reference)
            other = read_contents(plain, "r.py", require_kernel=False)
        found = detector.detect(read_facts(text, "k.py", reference=other))
        assert all(each.type == detector.NAME and each.remedy and each.message for each in found)
        return tuple(found)

    return run


@pytest.fixture(scope="session")
def blamed() -> Callable[[str, Issue], str]:
    """Return the text of the line that an issue blames."""

    def line(source: str, issue: Issue) -> str:
        return (HEAD + textwrap.dedent(source)).splitlines()[issue.line - 1].strip()

    return line

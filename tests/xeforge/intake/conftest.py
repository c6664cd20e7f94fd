import textwrap
from collections.abc import Callable

import pytest

from xeforge.domain.submission import SourceFile
from xeforge.errors import UserError
from xeforge.intake.spec import Spec
from xeforge.intake.spec import read_spec


def _read(text: str, *variants: str, prefers_xpu: bool = False) -> Spec:
    source = SourceFile("folder/s.yaml", textwrap.dedent(text).lstrip("\n"))
    return read_spec(source, variants=variants, prefers_xpu=prefers_xpu)


@pytest.fixture(scope="session")
def spec_of() -> Callable[..., Spec]:
    """Read a spec from text."""
    return _read


@pytest.fixture(scope="session")
def refusal() -> Callable[..., UserError]:
    """Return the error that reading a spec ends in; it always names file and remedy."""

    def refuse(text: str, *variants: str, prefers_xpu: bool = False) -> UserError:
        with pytest.raises(UserError) as caught:
            _read(text, *variants, prefers_xpu=prefers_xpu)
        assert caught.value.file == "folder/s.yaml"
        assert caught.value.remedy
        return caught.value

    return refuse

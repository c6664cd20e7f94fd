import pytest

from xeforge.errors import BadRequest
from xeforge.propose import PROPOSERS
from xeforge.propose import find_proposer


def test_proposers_are_found_by_their_names():
    assert [each.name for each in PROPOSERS] == ["recipe_apply", "fusion_compiler", "config_search"]
    for each in PROPOSERS:
        assert find_proposer(each.name) is each


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(BadRequest, match="'guess'") as caught:
        find_proposer("guess")
    assert "config_search" in str(caught.value)

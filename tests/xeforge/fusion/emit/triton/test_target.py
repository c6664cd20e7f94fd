"""Rows of the table of targets."""

import pytest

from xeforge.errors import BadRequest
from xeforge.fusion.emit.triton.target import find_target


def test_unknown_targets_and_releases_are_refused():
    with pytest.raises(BadRequest, match="no target cuda:70"):
        find_target("cuda:70")
    with pytest.raises(BadRequest, match=r"Triton 2\.1 was not checked"):
        find_target("cuda:90", "2.1")


def test_a_card_has_a_memory_of_its_own():
    found = find_target("cuda:90").with_bandwidth(3e12)
    assert found.rates.bandwidth_bytes_per_s == 3e12
    assert found.rates.cache_bytes_per_s == find_target("cuda:90").rates.cache_bytes_per_s

"""Tiles that can be the configs of one kernel."""

from dataclasses import replace

from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.tile import of_one_form


def test_configs_of_one_kernel_have_one_form():
    first = Tile(128, 128, 64, 4, 4, form="persistent")
    same, other = Tile(64, 128, 64, 4, 4, form="persistent"), Tile(64, 64, 64, 4, 4)
    assert list(of_one_form([first, other, same])) == [first, same]


def test_what_the_host_describes_has_one_size():
    first = Tile(128, 128, 64, 4, 4, form="persistent", is_hosted=True)
    hosted, own = replace(first, m=64), replace(first, m=64, is_hosted=False)
    assert list(of_one_form([first, hosted, own])) == [first]

"""Rewrites that need no model. Adding one: a new file and a line here."""

from xeforge.propose.recipes import drop_float64
from xeforge.propose.recipes import drop_fp32_upcast
from xeforge.propose.recipes import drop_masks
from xeforge.propose.recipes import fuse_elementwise
from xeforge.propose.recipes import fuse_epilogue
from xeforge.propose.recipes import group_program_order
from xeforge.propose.recipes import hoist_host_work
from xeforge.propose.recipes import whole_rows
from xeforge.propose.rewrite import Recipe

RECIPES: tuple[Recipe, ...] = (
    drop_float64,
    drop_fp32_upcast,
    fuse_elementwise,
    fuse_epilogue,
    hoist_host_work,
    whole_rows,
    drop_masks,
    group_program_order,
)

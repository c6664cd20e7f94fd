"""Rewrites that need no model. Adding one: a new file and a line here."""

from xeforge.propose.rewrite import Recipe

RECIPES: tuple[Recipe, ...] = ()

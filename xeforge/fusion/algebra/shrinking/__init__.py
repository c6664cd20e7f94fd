"""Sizes of a graph made small: what must agree, what follows, what is free."""

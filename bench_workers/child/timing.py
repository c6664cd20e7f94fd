"""Placeholder table until timing is in."""

OPERATIONS: dict = {}

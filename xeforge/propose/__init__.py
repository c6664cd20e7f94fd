"""Proposers that need no language model."""

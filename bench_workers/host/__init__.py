"""Trusted side of one run."""

"""Untrusted side: standard library, torch and triton only."""

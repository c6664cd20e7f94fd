"""Runs untrusted kernels; holds no key; imports no agent."""

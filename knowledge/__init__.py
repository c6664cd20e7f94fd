"""YAML hardware knowledge, and the code that keeps it honest."""

"""Composition roots: one module per subcommand."""

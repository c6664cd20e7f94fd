"""From captured graphs to statements: one file per family of operators."""

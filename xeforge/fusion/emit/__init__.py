"""Plans become source text: one folder per language."""

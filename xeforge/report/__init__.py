"""What a user reads at the end: JSON, Markdown and one self-contained HTML page."""

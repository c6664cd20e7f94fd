"""One frozen type per arrow in the ten-step walk."""

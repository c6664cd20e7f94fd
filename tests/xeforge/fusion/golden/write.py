"""Writes the kept files anew; look at the difference before it is committed.

Run as ``make golden``.
"""

from tests.xeforge.fusion.golden.cases import FOLDER
from tests.xeforge.fusion.golden.cases import GRAPHS
from tests.xeforge.fusion.golden.cases import TARGETS
from tests.xeforge.fusion.golden.cases import path_of
from tests.xeforge.fusion.golden.cases import text_of


def main():
    """Compile every graph for every language."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.golden"):
        old.unlink()
    for language in TARGETS:
        for name in GRAPHS:
            path_of(name, language).write_text(text_of(name, language), encoding="utf-8")


if __name__ == "__main__":
    main()

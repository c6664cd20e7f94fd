"""README, ARCHITECTURE and the folders' own pages name only what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))),
    *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("*/README.md"))),
]
PATH = re.compile(r"`([\w.*-]+(?:/[\w.*-]+)+/?)`")
TOP_FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()}
PLANNED = {"api/web"}
"""Named in decision notes as the place where something will come."""


def paths_named(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [name for name in PATH.findall(text) if name.split("/")[0] in TOP_FOLDERS]


@pytest.mark.parametrize("page", PAGES)
def test_every_path_a_page_names_exists(page):
    missing = [
        name
        for name in paths_named(page)
        if name not in PLANNED and not any(ROOT.glob(name.rstrip("/")))
    ]
    assert missing == []


def test_the_architecture_page_names_a_file_for_each_of_the_ten_steps():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (\w+) \| (`[^|]+) \|", text, flags=re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == list(range(1, 11))


def test_the_readme_names_the_two_commands_and_every_exit_code():
    from xeforge.app.exit_codes import ExitCode

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    for code in ExitCode:
        assert re.search(rf"^\| {int(code)} \|", text, flags=re.MULTILINE), code


def test_the_pages_stay_short():
    lines = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").count("\n")
    assert lines <= 150
    for page in ROOT.glob("*/README.md"):
        assert page.read_text(encoding="utf-8").count("\n") <= 40, page

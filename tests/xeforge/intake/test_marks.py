import pytest

from xeforge.errors import BadSpec
from xeforge.intake.marks import dotted
from xeforge.intake.marks import read_yaml


def test_values_keep_their_lines_and_their_spelling():
    document = read_yaml("a: 1\nb:\n  - {c: x}\n  - d: 1e-5\n", "s.yaml")
    assert document.data == {"a": 1, "b": [{"c": "x"}, {"d": "1e-5"}]}
    assert document.line(("a",)) == 1
    assert document.line(("b", 1, "d")) == 4
    assert document.line(("b", 1, "absent")) == 4
    assert document.line(("absent",)) == 1
    assert document.texts[("b", 1, "d")] == "1e-5"


def test_keys_stay_as_written():
    assert read_yaml("NO: 1\non: 2\n7: 3\n", "s.yaml").data == {"NO": 1, "on": 2, "7": 3}


def test_anchors_and_merge_keys_are_followed():
    document = read_yaml("base: &b {M: 1, N: 2}\nuse: {<<: *b, N: 3}\n", "s.yaml")
    assert document.data["use"] == {"M": 1, "N": 3}


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "empty", None),
        ("\ufeff\n", "empty", None),
        ("# nothing\n", "only comments", None),
        ("a: [1, 2\nb: 3\n", "not valid YAML", 2),
        ("a:\n\tb: 1\n", "not valid YAML", 2),
        ("a: 1\n---\nb: 2\n", "not valid YAML", 2),
        ("a: 1\nb: 2\na: 3\n", "'a' is given twice", 3),
        ("a: {b: 1, b: 2}\n", "'b' is given twice", 1),
        ("a: 2024-01-01\n", "type timestamp", 1),
        ("a: !!python/object:os.system x\n", "type python/object:os.system", 1),
        ("? [1, 2]\n: 3\n", "plain word", 1),
        ("a: \x01\n", "not valid YAML", None),
        ("a: \udce9\n", "not valid YAML", None),
        ("a: !!int x\n", "cannot be read", 1),
        ("b: &b 1\na: {<<: *b}\n", "only mappings can be merged", 1),
        ("a: 1\nb: " + "[" * 3000, "nested too deeply", 2),
        ("a:\n" + "".join(f"{' ' * n}- \n" for n in range(2000)), "nested too|characters", None),
        ("#" * 250_001, "characters", None),
        ("&a [*a]\n", "not valid YAML|nested too deeply|more than", None),
    ],
)
def test_unreadable_documents_are_refused(text, message, line):
    with pytest.raises(BadSpec, match=message) as caught:
        read_yaml(text, "s.yaml")
    assert caught.value.file == "s.yaml"
    assert caught.value.remedy
    if line is not None:
        assert caught.value.line == line


def test_alias_bomb_is_refused_quickly():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(BadSpec, match="more than 50,000 values"):
        read_yaml("\n".join(lines), "s.yaml")


def test_dotted_paths():
    assert dotted(("bench-gpu", 0, "dims", "M")) == "bench-gpu[0].dims.M"
    assert dotted(()) == ""

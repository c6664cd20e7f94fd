"""What candidates say is quoted, not obeyed."""

from xeforge.app.console import complain
from xeforge.app.console import say
from xeforge.app.console import tell
from xeforge.app.console import visible


def test_control_characters_are_spelt_out():
    assert visible("a\x1b[31mb\x07\x9bc") == "a\\x1b[31mb\\x07\\x9bc"
    assert visible("two\n\tlines") == "two\n\tlines"


def test_no_escape_sequence_of_a_quoted_text_reaches_the_terminal(capsys):
    for write in (tell, say, lambda text: complain("error", text)):
        write("bad \x1b[2J news")
    captured = capsys.readouterr()
    assert "\x1b[2J" not in captured.out + captured.err
    assert "\\x1b" in captured.out
    assert "\\x1b" in captured.err


def test_markup_of_a_quoted_text_is_shown_as_it_is(capsys):
    tell("[bold]x[/bold] [/]")
    assert "[bold]x[/bold] [/]" in capsys.readouterr().out

"""The command line: one module per subcommand, errors to exit codes in one place."""

import importlib
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from xeforge.app import interrupts
from xeforge.app.console import complain
from xeforge.app.exit_codes import ExitCode
from xeforge.errors import PlatformError
from xeforge.errors import UserError
from xeforge.errors import XeForgeError

COMMANDS = (
    "optimize",
    "verify",
    "bench",
    "analyze",
    "structure",
    "fuse",
    "certificate",
    "devices",
    "kb",
    "doctor",
    "demo",
)
"""Each is a module of this package, imported when it is asked for: a command waits for no other."""


class Commands(TyperGroup):
    """Finds a subcommand's module by its name."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        names: dict[str, Any] = dict.fromkeys(COMMANDS)
        self.commands = names  # "did you mean" reads the names; `get_command` finds what is behind

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the help page."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module behind a name; None when there is none."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"xeforge.app.{cmd_name}")
        found = getattr(module, "app", None)
        if found is None:
            found = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            found.command(cmd_name)(module.command)
        command = typer.main.get_command(found)
        command.name = cmd_name
        return command


app = typer.Typer(
    name="xeforge",
    cls=Commands,
    help="Takes a working Triton kernel and gives back a faster one, with proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def group() -> None:
    """Take a working Triton kernel and give back a faster one, with proof."""


def run() -> None:
    """Run a command; turn every error raised on purpose into a message and an exit code."""
    interrupts.install()
    try:
        app(standalone_mode=True)
    except UserError as error:
        complain("error", str(error))
        sys.exit(ExitCode.BAD_INPUT)
    except PlatformError as error:
        complain("platform fault", str(error))
        sys.exit(ExitCode.PLATFORM_FAULT)
    except XeForgeError as error:
        complain("error", str(error))
        sys.exit(ExitCode.PLATFORM_FAULT)
    except KeyboardInterrupt:
        complain("stopped", "interrupted")
        sys.exit(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    run()

"""The command line: one module per subcommand, errors to exit codes in one place."""

import sys

import typer

from xeforge.app import analyze
from xeforge.app import bench
from xeforge.app import certificate
from xeforge.app import demo
from xeforge.app import devices
from xeforge.app import doctor
from xeforge.app import interrupts
from xeforge.app import optimize
from xeforge.app import structure
from xeforge.app import verify
from xeforge.app.console import complain
from xeforge.app.exit_codes import ExitCode
from xeforge.errors import PlatformError
from xeforge.errors import UserError
from xeforge.errors import XeForgeError

app = typer.Typer(
    name="xeforge",
    help="Takes a working Triton kernel and gives back a faster one, with proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("optimize")(optimize.command)
app.command("verify")(verify.command)
app.command("bench")(bench.command)
app.command("analyze")(analyze.command)
app.command("structure")(structure.command)
app.add_typer(certificate.app, name="certificate")
app.command("devices")(devices.command)
app.command("doctor")(doctor.command)
app.command("demo")(demo.command)


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

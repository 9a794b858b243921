"""The command line: `assay COMMAND`, one verb per job."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from assay.cli.commands import COMMANDS, load, overview
from assay.data import DataError
from assay.settings import nearest

__all__ = ["main"]

BAD_INPUT = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 is done, 1 a check that did not hold, 2 bad usage or bad input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _speak_utf8()
    try:
        return _run(arguments)
    except DataError as error:
        print(f"assay: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader has seen enough, as in `assay ... | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("assay: stopped", file=sys.stderr)
        return 130


def _run(arguments: list[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help", "help"):
        print(overview())
        return 0
    if name in ("-V", "--version"):
        from assay.version import __version__

        print(f"assay {__version__}")
        return 0
    if name not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise DataError(f"no command {name!r}{nearest(name, COMMANDS)}. Commands: {known}.")
    command = load(name)
    return command.run(command.parse(arguments[1:]))


def _speak_utf8() -> None:
    """Text goes out as UTF-8 whatever the locale; what has no UTF-8 is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())

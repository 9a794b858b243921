"""The command line: `assay COMMAND`, one verb per job."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from assay.cli.commands import COMMANDS, group_overview, load, members, overview
from assay.cli.wording import in_options
from assay.data import DataError
from assay.progress import track, tracked
from assay.registry import PluginWarning
from assay.settings import did_you_mean

__all__ = ["main"]

BAD_INPUT = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 is done, 1 a check that did not hold, 2 bad usage or bad input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _speak_utf8()
    if sys.stdout is None:
        return _complain("standard output is closed: leave >&- out, or write to /dev/null.")
    try:
        with _plugin_notes():
            status = _run(arguments)
        sys.stdout.flush()
        return status
    except DataError as error:
        return _complain(error)
    except BrokenPipeError:
        # The reader has seen enough, as in `assay ... | head`.
        _silence()
        return 0
    except OSError as error:
        # Files answer with a `DataError`; this is standard output, on a full disk say.
        _silence()
        return _complain(f"cannot go on: {error.strerror or error}.")
    except KeyboardInterrupt:
        print("assay: stopped", file=sys.stderr)
        return 130


def _run(arguments: list[str]) -> int:
    name, *rest = arguments or ["--help"]
    if name == "help" and rest:
        name, rest = rest[0], [*rest[1:], "--help"]
    if rest and f"{name} {rest[0]}" in COMMANDS:
        name, rest = f"{name} {rest[0]}", rest[1:]
    if name in ("-h", "--help", "help"):
        print(overview())
        return 0
    if name in ("-V", "--version"):
        from assay.version import __version__

        print(f"assay {__version__}")
        return 0
    if name not in COMMANDS and members(name):
        return _introduce(name, rest)
    if name not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise DataError(f"no command {name!r}{did_you_mean(name, COMMANDS)}. Commands: {known}.")
    command = load(name)
    if {"-h", "--help"} & set(rest):
        print(command.help())
        return 0
    args = command.parse(rest)
    if not hasattr(args, "metric"):
        return command.run(args)
    with tracked(partial(track, label="Encoding", quiet=args.quiet)):
        return command.run(args)


def _introduce(group: str, rest: list[str]) -> int:
    """What a word stands for that is only the first of two."""
    if rest and rest[0] not in ("-h", "--help"):
        wanted, names = f"{group} {rest[0]}", members(group)
        known = ", ".join(names)
        raise DataError(f"no command {wanted!r}{did_you_mean(wanted, names)}. Commands: {known}.")
    print(group_overview(group))
    return 0


def _complain(message: object) -> int:
    print(f"assay: {' '.join(in_options(str(message)).splitlines())}", file=sys.stderr)
    return BAD_INPUT


@contextlib.contextmanager
def _plugin_notes() -> Iterator[None]:
    """A plug-in that does not work is told in one line, as everything else that is odd."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, PluginWarning):
            print(f"assay: note: {message}", file=sys.stderr)
        else:
            usual(message, category, *place, **more)

    with warnings.catch_warnings(action="default", category=PluginWarning):
        warnings.showwarning = show
        yield


def _silence() -> None:
    """Whatever is still to be written goes nowhere, so that nothing fails at the very end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _speak_utf8() -> None:
    """Text goes out as UTF-8 whatever the locale; what has no UTF-8 is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")

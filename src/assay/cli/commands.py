"""What a command is, and which there are; a command's module is loaded when it is called."""

from __future__ import annotations

import argparse
import shlex
import shutil
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NoReturn

from assay.data import DataError
from assay.settings import nearest

__all__ = ["COMMANDS", "Command", "load", "overview", "whole_number"]

COMMANDS = {
    "score": "how good is each system? BLEU, chrF, TER, MacroF ... with intervals and tests",
    "favor": "which segments make a metric prefer one system to another?",
    "types": "which words does each system get right, and which not?",
    "muler": "which linguistic features does each system get right? any metric taken apart",
    "muler examples": "the sentences behind a difference in one feature",
    "muler validate": "does MuLER do on your data what it should?",
    "cache": "what is kept of earlier tagging, and how to clear it",
    "demo": "see all of it on a small test set that comes with assay",
}


@dataclass(frozen=True)
class Command:
    """One verb: what it says of itself, its options, and what it does."""

    name: str
    usage: str
    description: str
    examples: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options of one call; a wrong one is a `DataError` of one line."""
        args = self._parser().parse_intermixed_args(list(arguments))
        args.command = shlex.join(["assay", *self.name.split(), *arguments])
        return args

    def help(self) -> str:
        """What `--help` prints."""
        return self._parser().format_help().rstrip("\n")

    def _parser(self) -> argparse.ArgumentParser:
        parser = _Parser(
            prog=f"assay {self.name}",
            usage=f"assay {self.name} {self.usage}",
            description=f"{self.description}\n\nexamples:\n{self._indented_examples()}",
            formatter_class=_Help,
            allow_abbrev=False,
            add_help=False,
        )
        self.configure(parser)
        parser.add_argument("-h", "--help", action="help", help="show this help and stop")
        return parser

    def _indented_examples(self) -> str:
        return textwrap.indent(textwrap.dedent(self.examples).strip(), "  ")


def load(name: str) -> Command:
    """The command of that name."""
    module = name.replace(" ", "_")
    command: Command = import_module(f"assay.cli.{module}").COMMAND
    return command


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Reads an option's value, a whole number from `least` to `most`."""

    def read(text: str) -> int:
        value = int(text)
        if value < least or (most is not None and value > most):
            wanted = f"at least {least}" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"give {wanted}, not {value}")
        return value

    read.__name__ = "whole number"
    return read


def overview() -> str:
    """The help of `assay` itself."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "usage: assay COMMAND ...",
            "",
            "What is good and bad in a machine translation system,",
            "and how far to trust the number that says so.",
            "",
            "commands:",
            *lines,
            "",
            "`assay COMMAND --help` tells more. A first look: assay demo",
        ]
    )


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(
            prog, max_help_position=28, width=min(100, shutil.get_terminal_size().columns)
        )


class _Parser(argparse.ArgumentParser):
    """Errors in one line, with the nearest option suggested."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            word = unknown.split()[0].split("=")[0]
            hint = nearest(word, self._option_string_actions) if word.startswith("-") else ""
            message = f"unknown argument {word!r}{hint}"
        raise DataError(f"{self.prog.removeprefix('assay ')}: {message}. See: {self.prog} --help")

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
from assay.settings import did_you_mean

__all__ = [
    "COMMANDS",
    "Command",
    "group_overview",
    "list_names",
    "load",
    "members",
    "overview",
    "whole_number",
]

COMMANDS = {
    "score": "how good is each system? BLEU, chrF, TER, MacroF ... with intervals and tests",
    "favor": "which segments make a metric prefer one system to another?",
    "types": "which words does each system get right, and which not?",
    "muler": "which linguistic features does each system get right? any metric taken apart",
    "muler examples": "the sentences behind a difference in one feature",
    "muler validate": "does MuLER do on your data what it should?",
    "suite run": "a linguistic test suite: what do its rules say of each system's outputs?",
    "suite report": "the accuracy of systems by linguistic phenomenon, and who is in front",
    "suite compare": "what became better and worse from one version or campaign to the next",
    "suite import": "put a test suite into a database, for runs and people's decisions",
    "suite export": "write the suite of a database to a file, with the rules that people added",
    "suite serve": "the web page where people resolve warnings and add rules",
    "suite lint": "what is wrong with a test suite: rules, patterns, names, numbers of items",
    "suite sample": "draw items and hide them among other sentences, for systems to translate",
    "suite collect": "take the translations of a sample back, in any order",
    "meta correlate": "how far do metrics agree with people, and which agree better?",
    "meta sensitivity": "does a metric still see differences among good systems?",
    "meta retrieval": "are documents found in translation, and which metrics predict it?",
    "explain": "which words help a score and which hurt it? any metric, word by word",
    "boost": "a metric made better by its own explanations",
    "boost tune": "the weight and power with which a boosted metric agrees best with people",
    "cache": "the cache of annotations: what is in it, and how to clear it",
    "demo": "a first look at everything, on a small built-in test set",
}


_HOMES = {
    "score": "score",
    "favor": "comparison",
    "types": "comparison",
    "muler": "decomposition",
    "muler examples": "decomposition",
    "muler validate": "decomposition",
    "suite run": "suites",
    "suite report": "suites",
    "suite compare": "suites",
    "suite import": "suite_files",
    "suite export": "suite_files",
    "suite serve": "serve",
    "suite lint": "suites",
    "suite sample": "suite_files",
    "suite collect": "suite_files",
    "meta correlate": "agreement",
    "meta sensitivity": "agreement",
    "meta retrieval": "agreement",
    "explain": "explanation",
    "boost": "explanation",
    "boost tune": "explanation",
    "cache": "cache",
    "demo": "demo",
}
"""The module of each command, which is loaded when the command is called."""


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
        args.title = f"assay {self.name}"
        args.notes, args.languages_taken = [], []
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
    attribute = name.removeprefix("meta ").replace(" ", "_").upper()
    command: Command = getattr(import_module(f"assay.cli.{_HOMES[name]}"), attribute)
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


def list_names(action: argparse.Action, names: object) -> None:
    """Put the names, those of a registry say, for `{names}` in an option's help.

    They become text only where somebody reads the help: it takes time to load plug-ins.
    """
    action.help = (action.help or "").replace("{names}", "%(names)s")
    vars(action)["names"] = names


def members(group: str) -> list[str]:
    """The commands whose first word this is, where they are of two words."""
    return [name for name in COMMANDS if name.startswith(f"{group} ")]


def group_overview(group: str) -> str:
    """The help of the first word of several commands."""
    return "\n".join(
        [
            f"usage: assay {group} COMMAND ...",
            "",
            "commands:",
            *_summaries(members(group)),
            "",
            f"`assay {group} COMMAND --help` tells more.",
        ]
    )


def overview() -> str:
    """The help of `assay` itself."""
    return "\n".join(
        [
            "usage: assay COMMAND ...",
            "",
            "What is good and bad in a machine translation system,",
            "and how far to trust the number that says so.",
            "",
            "commands:",
            *_summaries(list(COMMANDS)),
            "",
            "`assay COMMAND --help` tells more. A first look: assay demo",
        ]
    )


def _summaries(names: Sequence[str]) -> list[str]:
    width = max(map(len, names))
    return [f"  {name:{width}}  {COMMANDS[name]}" for name in names]


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
            hint = did_you_mean(word, self._option_string_actions) if word.startswith("-") else ""
            message = f"unknown argument {word!r}{hint}"
        raise DataError(f"{self.prog.removeprefix('assay ')}: {message}. See: {self.prog} --help")

"""The command `assay`: which commands there are, what a command is, and running one."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TextIO, cast

from assay.data import DataError, StoreWarning
from assay.extras import lacks_memory
from assay.progress import track, tracked
from assay.registry import PluginWarning, did_you_mean

__all__ = [
    "COMMANDS",
    "Command",
    "group_overview",
    "in_options",
    "list_names",
    "load",
    "main",
    "members",
    "overview",
    "several",
    "whole_number",
]

COMMANDS = {
    "score": "how good is each system? BLEU, chrF, TER, MacroF ... with intervals and tests",
    "compare": "which system is better, where, why, and how sure is that? the first thing to run",
    "report": "all of that on one page: verdict, findings, every segment; or Markdown",
    "check": "may a new system replace the old one? limits for releases, with an exit code",
    "history": "is it getting better? a metric, slice or phenomenon over the runs of a store",
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
    "mbr": "which of several candidates is most like all others? minimum Bayes risk decoding",
    "cache": "the cache of annotations: what is in it, and how to clear it",
    "demo": "a first look at everything, on a small built-in test set",
}


_HOMES = {
    "score": "score",
    "compare": "reports",
    "report": "reports",
    "check": "reports",
    "history": "history",
    "favor": "score",
    "types": "score",
    "muler": "decomposition",
    "muler examples": "decomposition",
    "muler validate": "decomposition",
    "suite run": "suites",
    "suite report": "suites",
    "suite compare": "suites",
    "suite import": "suite_exchange",
    "suite export": "suite_export",
    "suite serve": "suite_exchange",
    "suite lint": "suites",
    "suite sample": "suite_exchange",
    "suite collect": "suite_exchange",
    "meta correlate": "agreement",
    "meta sensitivity": "agreement",
    "meta retrieval": "agreement",
    "explain": "explanation",
    "boost": "explanation",
    "boost tune": "explanation",
    "mbr": "mbr",
    "cache": "cache",
    "demo": "demo",
}
"""The module of each command, which is loaded when the command is called."""

BAD_INPUT = 2

_NO_MEMORY = (
    "not enough memory. Give fewer systems, metrics or segments at a time, use a machine with more "
    "memory, or raise the limit (ulimit -v)."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 is done, 1 a check that did not hold, 2 bad usage or bad input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _mend_standard_error()
    _speak_utf8()
    if sys.stdout is None:
        return _complain("standard output is closed: leave >&- out, or write to /dev/null.")
    try:
        with _notes(quiet=not {"-q", "--quiet"}.isdisjoint(arguments)):
            status = _run(arguments)
        sys.stdout.flush()
        return status
    except DataError as error:
        return _complain(error)
    except BrokenPipeError:
        # The reader has seen enough, as in `assay ... | head`.
        _silence(sys.stdout)
        return 0
    except OSError as error:
        if lacks_memory(error):
            return _complain_of_memory()
        # Files answer with a `DataError`; this is standard output, on a full disk say.
        _silence(sys.stdout)
        return _complain(f"cannot go on: {error.strerror or error}.")
    except KeyboardInterrupt:
        print("assay: stopped", file=sys.stderr)
        return 130
    except Exception as error:
        if not lacks_memory(error):
            raise
        return _complain_of_memory()


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


def _complain_of_memory() -> int:
    # Libraries that fail once more as Python ends have nothing to add.
    sys.unraisablehook = lambda unraisable: None
    return _complain(_NO_MEMORY)


@contextlib.contextmanager
def _notes(*, quiet: bool) -> Iterator[None]:
    """What is wrong with a plug-in or a store is told in one line, as all else that is odd."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, PluginWarning | StoreWarning):
            if not quiet or issubclass(category, PluginWarning):
                print(f"assay: note: {message}", file=sys.stderr)
        else:
            usual(message, category, *place, **more)

    with warnings.catch_warnings(action="default", category=PluginWarning):
        warnings.simplefilter("always", StoreWarning)
        warnings.showwarning = show
        yield


def _silence(stream: TextIO) -> None:
    """Whatever is still to be written goes nowhere, so that nothing fails at the very end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _mend_standard_error() -> None:
    """Notes that nobody can receive are left out, where `2>&-` closed it or its disk is full."""
    if sys.stderr is None:
        # Otherwise a file that is opened later would have number 2, and get what is written there.
        while os.open(os.devnull, os.O_RDWR) < 2:
            pass
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        return
    stream = sys.stderr
    if stream is sys.__stderr__:
        sys.stderr = cast("TextIO", _Forgiving(cast("TextIO", stream)))


class _Forgiving:
    """Standard error, of which a fault stops nothing: the result is what people wait for."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            _silence(self._stream)
            return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _speak_utf8() -> None:
    """Text goes out as UTF-8 whatever the locale; what has no UTF-8 is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


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


def several() -> dict[str, Any]:
    """The settings of an option that takes one value or more, and may stand more than once."""
    return {"nargs": "+", "action": "extend", "default": []}


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


_MISSING = {
    "documents": "give document ids with --docs FILE.",
    "features": "name some with -F FEATURE ...",
    "groups": "give a group for each segment with --groups FILE.",
    "human": "name a file with --human.",
    "judgements": "give them with --qrels FILE.",
    "languages": "give the languages with -l, as in -l de-en.",
    "names": "name them with --names, one name per system.",
    "pipeline": "name one with --pipeline NAME",
    "references": "name the references before -i.",
    "sources": "give the source with -s FILE.",
    "suite": "give it with --suite ITEMS OUTPUT ...",
    "systems": "name the outputs with -i.",
    "tags": "give tags with --tags FILE ...",
}
"""What to do where a parameter is missing: "pass sources=..."."""

_OPTIONS = {
    "by": "--by",
    "campaign": "--campaign",
    "coefficient": "--coefficient",
    "documents": "--docs",
    "human": "--human",
    "humans": "--humans",
    "ids": "--ids",
    "languages": "-l",
    "names": "--names",
    "numbered": "--number-queries",
    "only": "--only",
    "pair_columns": "--pair-column",
    "reach": "--reach",
    "references": "--refs",
    "replace": "--replace",
    "section": "--section",
    "seed": "--seed",
    "sizes": "--sizes",
    "slope": "--slope",
    "systems": "-i",
    "tags": "--tags",
    "tokenize": "-tok",
    "top": "--top",
    "worst": "--worst",
}
"""The option of a parameter that a message names with a value, or with a word in capitals."""

_NEED = re.compile(rf"\bpass ({'|'.join(_MISSING)})=\.\.\.")
_GIVEN = re.compile(
    rf"(?<![\w:,|])({'|'.join(_OPTIONS)})=(?:(True)|\"([^\"]*)\"|(?:([A-Z]+|-?[\d.]*\d)\b)|(?=\s))"
)


def in_options(message: str) -> str:
    """A message of the library as people read it who gave options.

    >>> in_options("comet compares with the source: pass sources=...")
    'comet compares with the source: give the source with -s FILE.'
    >>> in_options('compare within items: by="item"')
    'compare within items: --by item'
    """
    message = _NEED.sub(lambda need: _MISSING[need[1]], message)
    return _GIVEN.sub(_option, message)


def _option(given: re.Match[str]) -> str:
    value = given[3] or given[4]
    return f"{_OPTIONS[given[1]]} {value}" if value else _OPTIONS[given[1]]

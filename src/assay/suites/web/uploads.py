"""Files that somebody sent: kept for a while between the steps of an import."""

from __future__ import annotations

import re
import secrets
import shutil
import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from fastapi import HTTPException

from assay.data import DataError
from assay.suites.files.columns import ColumnRole
from assay.suites.model import Kind

if TYPE_CHECKING:
    from assay.suites.web.requests import Upload

__all__ = ["LARGEST_FILE", "LARGEST_UPLOAD", "ColumnChoice", "SheetChoices", "Uploads", "told"]

LARGEST_FILE = 20 * 2**20
"""Bytes that a file may have."""

LARGEST_UPLOAD = 60 * 2**20
"""Bytes that all files of one form may have."""

LASTS = 3600.0
"""Seconds for which files are kept."""

MOST = 20
"""So many uploads are kept; beyond that, the oldest go."""


class ColumnChoice(NamedTuple):
    """What a column holds, and the kind of those of its rules that seem to be of another kind."""

    name: str
    role: ColumnRole
    mixed: Kind | None = None


@dataclass(frozen=True)
class SheetChoices:
    """What somebody chose for a file of items."""

    columns: tuple[ColumnChoice, ...] = ()
    separator: str = ""
    name: str = ""
    languages: str = ""


@dataclass
class Uploads:
    """Uploads by their secret names, each with the person who sent it.

    The files lie in a folder of the server's own, which goes when the server does. What people
    chose for their last file is `chosen`, by the number of the person: a file that was mended and
    is sent again begins with it.
    """

    clock: Callable[[], float] = time.monotonic
    chosen: dict[int, SheetChoices] = field(default_factory=dict)
    _kept: dict[str, tuple[int, float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _folder: Path | None = None

    def keep(self, person: int, files: Iterable[Upload]) -> str:
        """Keep files for a person; the name under which `paths` finds them."""
        sent = [file for file in files if file.name or file.data]
        if not sent:
            raise DataError("No file was chosen.")
        for file in sent:
            if len(file.data) > LARGEST_FILE:
                size = LARGEST_FILE // 2**20
                raise DataError(f"{_plain(file.name)} is larger than {size} MB. Cut it in parts.")
        name = secrets.token_urlsafe(16)
        with self._lock:
            for at, file in enumerate(sent):
                folder = self._home / name / f"{at:02}"
                folder.mkdir(parents=True)
                (folder / _plain(file.name)).write_bytes(file.data)
            self._kept[name] = person, self.clock()
            self._tidy()
        return name

    def paths(self, person: int, name: str) -> list[Path]:
        """The files of an upload, in the order in which they came."""
        with self._lock:
            self._tidy()
            if self._kept.get(name, (None, 0))[0] != person:
                raise HTTPException(404, "These files are not kept any more: send them again.")
            folders = sorted((self._home / name).iterdir())
            return [path for folder in folders for path in folder.iterdir()]

    def drop(self, name: str) -> None:
        """Forget an upload."""
        with self._lock:
            self._forget(name)

    @property
    def _home(self) -> Path:
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="assay-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def _tidy(self) -> None:
        """Forget what is too old or too much, the oldest first."""
        for name, (_, since) in list(self._kept.items()):
            if self.clock() - since > LASTS or len(self._kept) > MOST:
                self._forget(name)

    def _forget(self, name: str) -> None:
        if self._kept.pop(name, None):
            shutil.rmtree(self._home / name, ignore_errors=True)


def told(error: DataError, paths: Iterable[Path]) -> str:
    """What was wrong, with files called as their sender calls them, and what to do in a browser."""
    text = str(error)
    for path in paths:
        text = text.replace(str(path), path.name)
    for command, page in _WORDS:
        text = command.sub(page, text)
    return text


_WORDS = (
    (
        re.compile(r"Convert the file: iconv .*"),
        'Save it anew and send it again: in Excel by "Save as", type "CSV UTF-8" (or as .xlsx), '
        'in a text editor by "Save as", encoding UTF-8.',
    ),
    (
        re.compile(r"Store the new run in a campaign of its own, .* replace=True\."),
        "Choose another name of the test round, or tick the box to replace what is there.",
    ),
    (re.compile(r", or say with ids=FILE which items they are"), ", or send a file with the ids"),
    (re.compile(r" \(source=COLUMN\)"), ""),
)
"""What to do, in the words of the command line and of Python, and in those of the page."""


def _plain(name: str) -> str:
    """The name of a file without a way out of its folder."""
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter for letter in last if letter.isprintable()).strip(". ")
    # Long names keep their endings, which tell the format.
    return kept[-80:] or "file"

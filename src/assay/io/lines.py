"""Text files, line by line: a line ends at a newline and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from assay.data import DataError
from assay.io.files import FilePath, label, read_bytes, write_whole

__all__ = ["bare_name", "read_lines", "read_text", "system_name", "write_lines"]

BOM = "\ufeff"

SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which no UTF-8 file can hold."""


def read_lines(path: FilePath) -> tuple[str, ...]:
    r"""The lines of a UTF-8 file, which end at \n or \r\n only; "-" is standard input.

    U+2028, form feeds, lone \r and the like stay inside their line. A final newline ends the
    last line; blank lines count. A leading byte order mark is dropped.
    """
    return split_lines(read_text(path))


def read_text(path: FilePath) -> str:
    """The whole text of a UTF-8 file without its byte order mark; never empty."""
    data = read_bytes(path)
    try:
        text = data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise DataError(_not_utf8(path, data, error.start)) from None
    if not text:
        raise DataError(f"{label(path)} is empty; it needs one line per segment.")
    return text


def split_lines(text: str) -> tuple[str, ...]:
    r"""Lines, ended by \n or \r\n.

    >>> split_lines("a\r\n\nb\rc\n")
    ('a', '', 'b\rc')
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return tuple(lines)


def write_lines(lines: Sequence[str], path: FilePath) -> None:
    """Write lines so that `read_lines` gives the same lines back."""
    if not lines:
        raise DataError(f"{path}: there are no lines to write.")
    for number, line in enumerate(lines, 1):
        if "\n" in line or line.endswith("\r"):
            raise DataError(
                f"{path}: segment {number} has a line break inside, so it does not fit on one "
                "line. Write JSON Lines (.jsonl), which can hold it."
            )
    # A reader drops one byte order mark, so text that starts with its own gets one more.
    mark = BOM if lines[0].startswith(BOM) else ""
    write_whole(path, mark + "\n".join(lines) + "\n")


def system_name(path: FilePath) -> str:
    """The file's name without its folder and without a final .txt, .gz or .xz.

    >>> system_name("systems/RWTH.5636.txt.gz")
    'RWTH.5636'
    """
    return bare_name(path, (".txt", ".gz", ".xz"))


def bare_name(path: FilePath, endings: Sequence[str]) -> str:
    """The file's name without its folder and without these endings, as often as they stand."""
    if str(path) == "-":
        return "stdin"
    name = Path(path).name
    while ending := next(
        (e for e in endings if name.lower().endswith(e) and len(name) > len(e)), ""
    ):
        name = name[: -len(ending)]
    if SURROGATE.search(name):
        raise DataError(f"{path!r}: this file's name is not UTF-8. Rename the file.")
    return name


def _not_utf8(path: FilePath, data: bytes, at: int) -> str:
    line = data.count(b"\n", 0, at) + 1
    byte = at - data.rfind(b"\n", 0, at)
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin1"
    return (
        f"{label(path)}, line {line}, byte {byte}: not UTF-8 (0x{data[at]:02x}). "
        f"Convert the file: iconv -f {encoding} -t utf-8 OLD > NEW"
    )

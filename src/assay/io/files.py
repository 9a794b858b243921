"""Files as bytes and as lines: read whole, written atomically."""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias

from assay.data import DataError
from assay.io.packed import PACKED, pack, packing, unpack
from assay.registry import did_you_mean

__all__ = [
    "FilePath",
    "bare_name",
    "check_place",
    "digest",
    "joined_lines",
    "label",
    "read_bytes",
    "read_lines",
    "read_text",
    "suffix",
    "system_name",
    "write_all",
    "write_lines",
    "write_whole",
]

FilePath: TypeAlias = Path | str

_piped: dict[str, str] = {}
"""The digests of what came through pipes, which can be read only once."""


def read_bytes(path: FilePath) -> bytes:
    """A file's bytes, unpacked where its name ends in .gz or .xz; "-" is standard input."""
    with _enough_memory(path):
        if Path(path).suffix.lower() not in PACKED or not packing(path):
            return _raw(path)
        if _kind(path) != stat.S_IFREG:
            return unpack(path, io.BytesIO(_raw(path)))
        with _readable(path), Path(path).open("rb") as file:
            return unpack(path, file)


def write_whole(path: FilePath, content: str | bytes) -> None:
    """Write a file in one piece: all of it stands there, or what stood there before.

    Names in .gz and .xz are packed, always to the same bytes; "-" is standard output. A new
    file has the usual permissions and a replaced one keeps its own; a link stays a link.
    Pipes and devices are written to, never replaced.
    """
    data = content if isinstance(content, bytes) else _encode(path, content)
    if str(path) == "-":
        _to_standard_output(data)
        return
    try:
        _write(Path(path), pack(path, data))
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from None


def check_place(path: FilePath) -> None:
    """Raise a `DataError` where a file cannot be written since its folder is missing."""
    if str(path) == "-":
        return
    if Path(path).is_dir():
        raise _cannot_write(path, IsADirectoryError())
    if not Path(path).parent.is_dir():
        raise _cannot_write(path, FileNotFoundError())


def write_all(folder: FilePath, contents: Mapping[str, str | bytes]) -> list[Path]:
    """Write files into a folder, by their paths inside it: all of them, or none.

    They are made in a hidden folder first, and moved when all are there, so that a full disk or
    Ctrl-C leaves nothing behind. Files of the same name are replaced; the paths come back.
    """
    home = Path(folder)
    # Where the folder is a link, what it points to is filled.
    target = home.resolve()
    base = next(each for each in (target, *target.parents) if each.exists())
    draft = base / f".{secrets.token_hex(8)}.tmp"
    try:
        for name, content in contents.items():
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(draft / name, content)
        _move(draft, target, list(contents))
    except DataError as error:
        raise DataError(str(error).replace(str(draft), str(home))) from None
    except OSError as error:
        raise DataError(f"{home}: this folder cannot be made ({_reason(error)}).") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return [home / name for name in contents]


def _move(draft: Path, target: Path, names: Sequence[str]) -> None:
    """Move files to where they belong; where that fails, what is new goes again."""
    paths = [target / name for name in names]
    new = [path for path in paths if not path.exists()]
    homes = dict.fromkeys(folder for path in paths for folder in reversed(path.parents))
    made = [folder for folder in homes if not folder.exists()]
    try:
        for folder in made:
            # The folder itself is moved in one piece, with all that is in it.
            if folder == target:
                draft.replace(target)
                return
            folder.mkdir()
        for name in names:
            (draft / name).replace(target / name)
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        raise


def digest(path: FilePath) -> str:
    """The SHA-256 of a file's raw bytes, in hexadecimal.

    For standard input and pipes it is that of what was last read from them.
    """
    if _kind(path) == stat.S_IFIFO:
        if str(path) not in _piped:
            raise DataError(f"{label(path)} can be read only once: ask for its digest afterwards.")
        return _piped[str(path)]
    return hashlib.sha256(_raw(path)).hexdigest()


def suffix(path: FilePath) -> str:
    """The ending that names the format, in lower case, compressed or not.

    >>> suffix("a/b.TSV.gz")
    '.tsv'
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    return next((ending for ending in reversed(endings) if ending not in PACKED), "")


def label(path: FilePath) -> str:
    """The file's name as messages print it."""
    return "standard input" if str(path) == "-" else str(path)


def _raw(path: FilePath) -> bytes:
    kind = _kind(path)
    if kind == stat.S_IFDIR:
        raise DataError(f"{path} is a folder, and a file is needed here.")
    if kind not in (stat.S_IFREG, stat.S_IFIFO):
        raise DataError(f"{path} is neither a file nor a pipe: save what it holds to a file.")
    with _readable(path):
        data = _standard_input() if str(path) == "-" else Path(path).read_bytes()
    if kind == stat.S_IFIFO:
        _piped[str(path)] = hashlib.sha256(data).hexdigest()
    return data


def _kind(path: FilePath) -> int:
    if str(path) == "-":
        return stat.S_IFIFO
    with _readable(path):
        return stat.S_IFMT(Path(path).stat().st_mode)


@contextmanager
def _enough_memory(path: FilePath) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise DataError(
            f"{label(path)}: not enough memory to read it. Split the file, use a machine with more "
            "memory, or raise the limit (ulimit -v)."
        ) from None


@contextmanager
def _readable(path: FilePath) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(_missing(Path(path))) from None
    except PermissionError:
        raise DataError(f"{path} may not be read by you; allow it: chmod u+r.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{label(path)!r} cannot be read ({_reason(error)}).") from None


def _missing(path: Path) -> str:
    if not path.parent.is_dir():
        return f"{path} does not exist, nor does its folder. Check the path."
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError:
        names = []
    hint = did_you_mean(path.name, names)
    return f"{path} does not exist{hint}. Check the path."


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise DataError("standard input is closed: name a file instead of '-'.")
    return sys.stdin.buffer.read()


def _to_standard_output(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _encode(path: FilePath, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        code = ord(text[error.start])
        raise DataError(
            f"{path}, line {line}: U+{code:04X} is half a character and cannot be written. "
            "Repair the text where it was made."
        ) from None


def _write(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    # What a link points to is replaced, not the link.
    target = path.resolve()
    temporary = target.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with _created(temporary) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _created(path: Path) -> IO[bytes]:
    # Only creating with 0666 applies the user's umask; asking for it is not safe with threads.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o666), "wb")


def _cannot_write(path: FilePath, error: Exception) -> DataError:
    folder = Path(path).parent
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path}: the folder {folder} does not exist; make it: mkdir -p {folder}")
    if isinstance(error, IsADirectoryError):
        return DataError(f"{path} is a folder; name a file inside it.")
    if isinstance(error, PermissionError):
        return DataError(f"{path}: you may not write in {folder}. Choose another folder.")
    return DataError(f"{str(path)!r} cannot be written ({_reason(error)}).")


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
    with _enough_memory(path):
        text = decode(path, data)
    if not text:
        raise DataError(f"{label(path)} is empty; it needs one line per segment.")
    return text


def decode(path: FilePath, data: bytes) -> str:
    """The text of a file's bytes in UTF-8, without the byte order mark."""
    try:
        return data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise DataError(_not_utf8(path, data, error.start)) from None


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
    write_whole(path, joined_lines(lines, path))


def joined_lines(lines: Sequence[str], path: FilePath) -> str:
    """The text of a file with these lines; `path` is named where they do not fit in one."""
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
    return mark + "\n".join(lines) + "\n"


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

"""Where a database is: a file or a server, and how to say so without its password."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from assay.data import DataError
from assay.io.files import label
from assay.settings import nearest

__all__ = ["Address", "address_of"]

_SERVERS = ("postgresql", "postgres", "postgresql+psycopg")
_FORM = "postgresql://USER:PASSWORD@HOST/NAME"


@dataclass(frozen=True)
class Address:
    """A place to connect to; `str` of it never shows a password."""

    url: URL
    path: Path | None

    def __str__(self) -> str:
        if self.path is not None:
            return label(self.path)
        return self.url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)

    def check(self, *, create: bool) -> None:
        """Raise a `DataError` where the file of SQLite cannot be one."""
        if self.path is None:
            return
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder; name a database file, such as suite.db.")
        if self.path.is_file() and not _looks_right(self.path):
            raise self._no_database()
        if create and not self.path.parent.is_dir():
            folder = self.path.parent
            raise DataError(f"{self.path}: {folder} does not exist; make it: mkdir -p {folder}")
        if not create and not self.path.exists():
            raise DataError(
                f"{self.path} does not exist{_like(self.path)}. "
                f"Make it: assay suite import ITEMS --db {self.path}"
            )

    def refuse(self, target: str) -> None:
        """Raise a `DataError` where a file to be written is the database itself."""
        path = Path(target)
        if self.path is not None and path.is_file() and path.samefile(self.path):
            raise DataError(f"-o {target} is the database; name another file.")

    def explain(self, error: SQLAlchemyError, unavailable: type[DataError]) -> DataError:
        """What went wrong with the database, in one line without the password."""
        cause = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        reason = self.without_password(" ".join(cause.split()))
        if "not a database" in cause:
            return self._no_database()
        if "locked" in cause or "lock timeout" in cause:
            return unavailable(f"{self} is busy: another process is writing. Try again.")
        if "password authentication failed" in cause or "no password supplied" in cause:
            return unavailable(f"{self}: the user or the password is wrong ({reason}).")
        return unavailable(f"{self} cannot be used ({reason}).")

    def _no_database(self) -> DataError:
        return DataError(f"{self} is not a database of SQLite; name another file with --db.")

    def without_password(self, text: str) -> str:
        """The text with stars for the password, wherever it stands."""
        secrets = [self.url.password, self.url.query.get("password")]
        for secret in secrets:
            if secret and isinstance(secret, str):
                text = text.replace(secret, "***")
        return text


def address_of(where: str | Path) -> Address:
    """The address that a user wrote: a path, or the URL of a PostgreSQL database."""
    text = str(where)
    scheme, slashes, rest = text.partition("://")
    if not slashes:
        return _file(Path(where))
    if scheme == "sqlite":
        return _file(Path(rest.removeprefix("/")))
    if scheme not in _SERVERS:
        raise DataError(f"no database {scheme!r}: give the path of a file, or {_FORM}.")
    try:
        url = make_url(text).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        # The words of the error could have parts of the password in them.
        raise DataError(
            f"this address of a database cannot be read: write {_FORM}, "
            "with %40 for @, %3A for : and %2F for / inside the password."
        ) from None
    if not url.database:
        raise DataError(f"{Address(url, None)} names no database: write {_FORM}.")
    return Address(url, None)


def _file(path: Path) -> Address:
    return Address(URL.create("sqlite", database=str(path)), path)


def _looks_right(path: Path) -> bool:
    """Whether a file is empty or begins as a database; SQLite itself writes over tiny files."""
    try:
        with path.open("rb") as file:
            return file.read(16) in (b"", b"SQLite format 3\0")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None


def _like(path: Path) -> str:
    try:
        return nearest(path.name, [each.name for each in path.parent.iterdir()])
    except OSError:
        return ""

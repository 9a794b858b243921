"""A real PostgreSQL for tests, started from Debian's package or from wherever it is installed."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.patience import PATIENCE

MISSING = "needs a PostgreSQL server: apt-get install postgresql"


def binary(name: str) -> str | None:
    """Where a program of PostgreSQL is, the newest version first."""
    packaged = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return str(packaged[0]) if packaged else shutil.which(name)


@contextmanager
def cluster() -> Iterator[str]:
    """A server of its own for a while; the folder of its socket.

    The user `postgres` may log in without a password, `ann` with the password `secret`.
    """
    home = Path(tempfile.mkdtemp(prefix="assay-pg-"))
    data = home / "data"
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(home, owner.pw_uid, owner.pw_gid)
    try:
        _call("initdb", "-D", data, "-U", "postgres", "-E", "UTF8", "--no-locale", "--no-sync")
        hba = "local all ann scram-sha-256\nlocal all all trust\n"
        (data / "pg_hba.conf").write_text(hba)
        settings = f"-c listen_addresses= -c unix_socket_directories={home} "
        settings += "-c fsync=off -c full_page_writes=off"
        _call(
            "pg_ctl", "-D", data, "-w", "-t", PATIENCE, "-l", home / "log", "-o", settings, "start"
        )
        try:
            run(str(home), "CREATE ROLE ann LOGIN PASSWORD 'secret'")
            yield str(home)
        finally:
            _call("pg_ctl", "-D", data, "-w", "-t", PATIENCE, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def address(socket: str, database: str, user: str = "postgres") -> str:
    """The URL of a database in a cluster."""
    return f"postgresql://{user}@/{database}?host={socket}"


def run(socket: str, statement: str) -> None:
    """Run one statement on the server."""
    with psycopg.connect(address(socket, "postgres"), autocommit=True) as connection:
        connection.execute(statement)


def _call(name: str, *arguments: object) -> None:
    path = binary(name)
    if path is None:
        raise FileNotFoundError(MISSING)
    # PostgreSQL refuses to run as root.
    user = {"user": "postgres", "group": "postgres", "extra_groups": []}
    done = subprocess.run(
        [path, *map(str, arguments)],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if name == "initdb" else subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        **(user if os.geteuid() == 0 else {}),
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed: {(done.stdout or b'').decode()}")

"""The shell session of docs/history.md really runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.corpora import DEMO
from tests.patience import PATIENCE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "history.md").read_text("utf-8")


def session():
    """The commands of the session, each with the output that the page shows."""
    (block,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def matches(shown, out):
    """Whether the output is what is shown, with anything for `...`, blanks and lines apart."""
    pieces = [" ".join(piece.split()) for piece in shown.split("...")]
    return re.fullmatch(".*".join(map(re.escape, pieces)), " ".join(out.split()))


def test_the_session_of_the_page_runs_and_shows_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(DEMO / "ref.A.txt", "ref.txt")
    for path in (DEMO / "systems").glob("*.txt"):
        shutil.copy(path, path.name)
    (limits,) = re.findall(r"The limits are `(.*?)` and `(.*?)`", PAGE)
    Path("limits.toml").write_text("\n".join(("[limits]", *limits)), "utf-8")
    bins = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    statuses = []
    for command, shown in session():
        if command == "echo $?":
            assert shown.strip() == str(statuses[-1])
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {"PATH": bins, "COLUMNS": "200"},
        )
        statuses.append(done.returncode)
        assert matches(shown, done.stdout), f"{command}\n{done.stdout}{done.stderr}"
    assert statuses == [0, 0, 1, 0, 0, 0]
    assert Path("history.html").is_file()

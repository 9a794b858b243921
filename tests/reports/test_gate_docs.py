"""The shell session, the action and the recipes of docs/gate.md really run, passing and failing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.corpora import DEMO
from tests.patience import PATIENCE

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs" / "gate.md").read_text("utf-8")
ACTION = ".github/actions/check"
GATE = PROJECT / "examples" / "gate"


class Ran(NamedTuple):
    status: int
    out: str


@pytest.fixture
def bash(tmp_path, monkeypatch):
    """Run lines as CI systems do, with `assay` on the path and without any network.

    `python -m pip` only tells what it was asked for.
    """
    tools, folder = tmp_path / "tools", tmp_path / "here"
    tools.mkdir()
    folder.mkdir()
    monkeypatch.chdir(folder)
    python = tools / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/python.log"\n')
    python.chmod(0o755)
    bins = os.pathsep.join((str(tools), str(Path(sys.executable).parent), os.environ["PATH"]))

    def run(script, **variables):
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {"PATH": bins, "COLUMNS": "200", **variables},
        )
        return Ran(done.returncode, done.stdout)

    return run


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


def test_the_session_of_the_page_runs_and_shows_what_it_says(bash):
    shutil.copy(DEMO / "ref.A.txt", "ref.txt")
    shutil.copy(DEMO / "src.txt", "src.txt")
    for path in (DEMO / "systems").glob("*.txt"):
        shutil.copy(path, path.name)
    Path("limits.toml").write_text(limits_of_the_page())
    statuses = []
    for command, shown in session():
        if command == "echo $?":
            assert shown.strip() == str(statuses[-1])
            continue
        ran = bash(command)
        statuses.append(ran.status)
        assert matches(shown, ran.out), f"{command}\n{ran.out}"
    assert statuses == [0, 1, 0, 1]


def limits_of_the_page():
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    return block


def test_the_limits_of_the_page_are_those_of_the_example():
    assert limits_of_the_page() == (GATE / "limits.toml").read_text("utf-8")


@pytest.mark.parametrize("name", ["workflow.yml", "gitlab-ci.yml"])
def test_the_page_shows_parts_of_the_example(name):
    example = (GATE / name).read_text("utf-8")
    assert any(block in example for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture(params=[("cedar", "atlas", 0), ("atlas", "birch", 1)], ids=["passing", "failing"])
def release(request, bash):
    """A project with a test set, a baseline, limits and a system; and the status it should have."""
    baseline, candidate, status = request.param
    Path("test").mkdir()
    shutil.copy(DEMO / "ref.A.txt", "test/ref.txt")
    shutil.copy(DEMO / "src.txt", "test/src.txt")
    shutil.copy(DEMO / f"systems/{baseline}.txt", "test/baseline.txt")
    shutil.copy(GATE / "limits.toml", "limits.toml")
    Path("translate.sh").write_text(f'cat > /dev/null\ncat "{DEMO}/systems/{candidate}.txt"\n')
    return status


def read_yaml(path):
    return pytest.importorskip("yaml").safe_load(path.read_text("utf-8"))


def filled(text, inputs):
    """The text with ${{ inputs.NAME }} filled in."""
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], text)


def run_action(bash, given):
    """Every step of our action in turn; the status of the first that fails."""
    action = read_yaml(PROJECT / ACTION / "action.yml")
    required = {name for name, about in action["inputs"].items() if about.get("required")}
    assert required <= set(given) <= set(action["inputs"])
    inputs = {name: about.get("default", "") for name, about in action["inputs"].items()} | given
    variables = {"GITHUB_OUTPUT": "output.txt", "GITHUB_STEP_SUMMARY": "summary.md"}
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        own = {name: filled(text, inputs) for name, text in step["env"].items()}
        ran = bash(step["run"], **variables, **own)
        if ran.status:
            break
    return ran


def test_the_workflow_and_the_action_run(bash, release, tmp_path):
    steps = read_yaml(GATE / "workflow.yml")["jobs"]["gate"]["steps"]
    for step in steps:
        if "run" in step:
            assert bash(step["run"]).status == 0
        elif ACTION in step["uses"]:
            ran = run_action(bash, step["with"])
    assert ran.status == release
    assert ("FAILED" if release else "PASSED") in ran.out
    passed = "false" if release else "true"
    assert Path("output.txt").read_text() == f"passed={passed}\n"
    assert "| limit | verdict |" in Path("summary.md").read_text("utf-8")
    assert Path("gate.xml").read_text("utf-8").count("<failure") == (3 if release else 0)
    assert (tmp_path / "python.log").read_text() == "-m pip install --quiet assay-mt\n"


def test_the_job_for_gitlab_runs(bash, release, tmp_path):
    job = read_yaml(GATE / "gitlab-ci.yml")["translation gate"]
    ran = bash("\n".join(job["script"]))
    assert ran.status == release
    assert ("FAILED" if release else "PASSED") in ran.out
    assert Path(job["artifacts"]["reports"]["junit"]).read_text("utf-8").startswith("<?xml")
    assert (tmp_path / "python.log").read_text() == "-m pip install --quiet assay-mt\n"


def test_texts_of_inputs_cannot_act_as_commands(bash, release):
    given = {
        "references": "test/ref.txt",
        "baseline": "$(touch stolen)",
        "candidate": "; touch stolen",
        "options": "`touch stolen`",
    }
    assert run_action(bash, given).status == 2
    assert not Path("stolen").exists()

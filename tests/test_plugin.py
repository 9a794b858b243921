"""A package of somebody else's works through its entry points, and a broken one costs a note."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.corpora import DEMO, demo
from tests.patience import PATIENCE

PLUGIN = Path(__file__).resolve().parents[1] / "examples" / "plugin"
TEXTS = f"{DEMO / 'ref.A.txt'} -i {DEMO / 'systems' / 'atlas.txt'} {DEMO / 'systems' / 'birch.txt'}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the plug-in installed in it, as pip does."""
    source, site = tmp_path_factory.mktemp("source") / "plugin", tmp_path_factory.mktemp("site")
    shutil.copytree(PLUGIN, source)  # building leaves files beside the sources
    if importlib.util.find_spec("pip") and importlib.util.find_spec("setuptools"):
        options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
        command = [sys.executable, "-m", "pip", "install", *options, "--target", site, source]
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    else:  # no way to build a package here: write what pip would
        shutil.copytree(source / "src" / "assay_plugin_example", site / "assay_plugin_example")
        project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
        offer(site, project["name"], project["entry-points"])
    return site


def offer(site, name, points):
    """Have a package of that name offer entry points."""
    about = site / f"{name.replace('-', '_')}-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    lines = [
        line
        for group, members in points.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in members.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def broken(site, tmp_path_factory):
    """A second folder with packages whose entry points lead nowhere."""
    folder = tmp_path_factory.mktemp("broken")
    points = {"broken": "no_such_module_at_all:X"}
    groups = ("metrics", "explainers", "coefficients")
    offer(folder, "broken-plugin", {f"assay.{group}": points for group in groups})
    return folder


def run(command, *folders):
    paths = os.pathsep.join(map(str, folders))
    return subprocess.run(
        [sys.executable, *command.split()],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": paths},
    )


def assay(command, *folders):
    return run(f"-m assay.cli {command}", *folders)


def records(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["records"]


def test_its_metric_is_scored_with_intervals_and_tests(site):
    metrics = "-m lengthmatch lengthmatch:unit=char bleu"
    done = assay(f"score {TEXTS} {metrics} --paired-bs --confidence --format json -q", site)
    found = {(each["metric"], each["system"]): each for each in records(done)}
    word = found["lengthmatch", "atlas"]
    assert 0 < word["low"] < word["score"] < word["high"] <= 100
    assert 0 < found["lengthmatch", "birch"]["p"] <= 1
    assert "unit:char" in found["lengthmatch:unit=char", "atlas"]["signature"]


def test_its_metric_is_boosted_like_any_other(site):
    line = f"boost {TEXTS} -m lengthmatch -e reading --format json -q"
    assert records(assay(line, site))


def test_its_explainer_explains(site):
    line = f"explain {TEXTS} -m lengthmatch -e reading --only 1 --format json -q"
    found = [record for record in records(assay(line, site)) if record["side"] == "hypothesis"]
    words = [record["token"] for record in found if record["system"] == "atlas"]
    assert words == demo("systems/atlas.txt", 1)[0].split()
    # The first word of an empty text makes it longer.
    assert found[0]["importance"] > 0


def test_its_coefficient_correlates(site):
    human = DEMO / "human" / "da.seg.tsv"
    options = f"--human {human} --granularity segment --compare --trials 50 --format json -q"
    line = f"meta correlate {TEXTS} -m lengthmatch chrf --coefficient somers spa {options}"
    found = records(assay(line, site))
    values = {each["metric"]: each["value"] for each in found if each["coefficient"] == "somers"}
    assert set(values) == {"lengthmatch", "chrf"}
    assert all(-1 < value < 1 for value in values.values())


def test_its_own_tests_pass(site):
    tests = PLUGIN / "tests"
    done = run(f"-m pytest -q -p no:cacheprovider --rootdir {tests} -c {os.devnull} {tests}", site)
    assert done.returncode == 0, done.stdout


def test_names_are_listed_where_help_is_read(site):
    done = assay("score --help", site)
    assert "lengthmatch" in done.stdout
    assert not done.stderr


def test_a_broken_plug_in_costs_one_note_where_names_are_listed(site, broken):
    done = assay("explain --help", site, broken)
    assert done.returncode == 0
    assert "reading" in done.stdout
    assert done.stderr.splitlines() == [
        f"assay: note: a plug-in is left out: {kind} 'broken' could not be loaded: "
        "No module named 'no_such_module_at_all'"
        for kind in ("metric", "explainer")
    ]


def test_a_broken_plug_in_costs_nothing_where_it_is_not_wanted(site, broken):
    done = assay(f"score {TEXTS} -m lengthmatch --format json", site, broken)
    assert len(records(done)) == 2
    assert not done.stderr


def test_a_broken_plug_in_is_an_error_where_it_is_asked_for(broken):
    done = assay(f"score {TEXTS} -m broken", broken)
    assert done.returncode == 2
    assert done.stderr == (
        "assay: metric 'broken' could not be loaded: No module named 'no_such_module_at_all'\n"
    )

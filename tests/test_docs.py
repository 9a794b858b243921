"""What the documents say is so: their examples run, their links lead somewhere."""

import doctest
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import assay

PROJECT = Path(__file__).resolve().parents[1]
PAGES = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_give_what_it_says(page):
    failures, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert failures == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_to_files(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("script", sorted(PROJECT.glob("examples/*.py")), ids=lambda p: p.name)
def test_an_example_runs_and_prints_something(script):
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    assert not done.stderr


def test_the_readme_names_the_two_commands_that_do_everything():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def test_install_lines_name_our_distribution_and_not_a_strangers():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "assay-mt"
    files = [*PAGES, PROJECT / "pyproject.toml", *PROJECT.glob("src/assay/**/*.py")]
    foreign = re.compile(r"\bassay\[[a-z]|pip install (--upgrade )?['\"]?assay(?!-mt)")
    hints = [path.name for path in files if foreign.search(path.read_text("utf-8"))]
    assert hints == []


def test_the_citation_has_the_packages_version():
    citation = (PROJECT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {assay.__version__}\n" in citation

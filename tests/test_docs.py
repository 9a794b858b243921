"""What the documents say is so: their examples run, their links lead somewhere."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

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

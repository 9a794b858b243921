"""Imports point one way, `import assay` costs nothing, and all that is public is documented."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import assay
from assay.cli.commands import COMMANDS, load

HOME = Path(assay.__file__).parent
PROJECT = Path(__file__).resolve().parents[1]

LAYERS = (
    ("version",),
    ("data", "progress", "results"),
    ("extras",),
    ("cluster", "registry"),
    ("kernel", "plots", "statistics"),
    ("text",),
    ("io",),
    ("features",),
    ("metrics",),
    ("store",),
    ("scoring",),
    ("agreement", "comparison", "decomposition", "explanation", "rendering", "scale", "suites"),
    ("demo", "testing"),
    ("reports",),
    ("cli",),
)
"""From the bottom up; a module imports its own part and what lies below, never its neighbours."""

EXCEPTIONS = {("data", "io"), ("results", "rendering"), ("progress", "cluster")}
"""`Dataset.from_records` loads what reads tables inside the method, what a result can do, show and
save itself, loads a renderer, and the address of a cluster is connected to where it is given."""

LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def modules():
    return sorted(path for path in HOME.rglob("*.py") if path != HOME / "__init__.py")


def part_of(path):
    """The part of the package that a file belongs to: `cli` for cli/score.py."""
    return path.relative_to(HOME).parts[0].removesuffix(".py")


def imported_parts(path):
    """The parts that a module imports anywhere, but for type checking."""
    tree = ast.parse(path.read_text("utf-8"))
    hidden = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("assay."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOME)))
def test_imports_point_downwards(path):
    part = part_of(path)
    for other in imported_parts(path):
        if (part, other) not in EXCEPTIONS:
            assert other == part or LEVEL[other] < LEVEL[part], f"{part} imports {other}"


def test_every_part_has_its_layer():
    assert {part_of(path) for path in modules()} == set(LEVEL)


def test_a_class_name_exists_once():
    names = Counter(
        node.name
        for path in modules()
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def modules_after(code):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("code", ["import assay", "import assay.cli", "import assay.data"])
def test_importing_costs_nothing(code):
    heavy = {"numpy", "scipy", "sacrebleu", "regex", "rich", "jinja2", "typer", "vl_convert"}
    assert not modules_after(code) & heavy


def test_scoring_from_python_loads_neither_sacrebleu_nor_statistics():
    code = "import assay; assay.score({'a': ['x']}, [['x']], ['bleu', 'chrf', 'ter']).records()"
    loaded = modules_after(code)
    assert "numpy" in loaded
    assert not loaded & {"scipy.stats", "sacrebleu", "rich", "jinja2", "typer"}


@pytest.mark.parametrize("name", assay.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(assay, name) is not None


def test_other_names_cannot():
    with pytest.raises(AttributeError, match="module 'assay' has no attribute 'scores_'"):
        assay.scores_  # noqa: B018


def test_names_for_type_checkers_are_the_names_that_load():
    tree = ast.parse((HOME / "__init__.py").read_text("utf-8"))
    (branch,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    told = {alias.name: node.module for node in branch.body for alias in node.names}
    assert told == assay._WHERE


@pytest.fixture(scope="module")
def documentation():
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
    return "\n".join(page.read_text("utf-8") for page in pages)


@pytest.mark.parametrize("name", [name for name in assay.__all__ if name != "__version__"])
def test_every_public_name_is_documented(documentation, name):
    assert re.search(rf"\b{name}\b", documentation)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(documentation, name):
    assert f"assay {name}" in documentation


def test_every_command_has_its_name():
    assert all(load(name).name == name for name in COMMANDS)

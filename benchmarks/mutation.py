"""Do the tests notice a wrong figure? Small errors are put into the code, one at a time.

An error is a comparison turned round or moved by its boundary, plus for minus, times for divided,
`and` for `or`, a `not` or a sign left out, a number changed by 1 or by a hundredth. Of those that
can be made in a package, a sample is drawn; for each, the tests of that package run on a changed
copy of the sources. A survivor is an error that no test noticed: a test to be written, or a change
that makes no difference. A module's own examples are tests, too. Modules that only print or draw
are left out.

    python benchmarks/mutation.py statistics --count 12
    python benchmarks/mutation.py agreement --match findings.py:42
"""

from __future__ import annotations

import argparse
import ast
import compileall
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "assay"

PACKAGES = {
    "statistics": ["tests/statistics", "tests/agreement/test_coefficients.py",
        "tests/agreement/test_differences.py"],
    "metrics": ["tests/golden", *(f"tests/metrics/test_{name}.py" for name in (
        "mean", "typef", "ter", "rouge", "habits", "against_sacrebleu"))],
    "agreement": ["tests/agreement"],
    "decomposition": ["tests/decomposition"],
}  # fmt: skip
"""The tests that answer for each package."""

LEFT_OUT = {"charts", "report", "tables", "summary", "registry"}
"""Modules that show figures or find names: the tests of the command line answer for them."""
STRING_METRICS = ("base", "bleu", "chrf", "mean", "rouge", "selection", "ter", "typef")

SWAPS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}

RUN = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
copy = sys.argv.pop(1)
sys.path.insert(0, copy)
import assay, pytest
assert assay.__file__.startswith(copy), assay.__file__
sys.exit(pytest.main(sys.argv[1:]))
"""
"""Runs pytest on a copy of the package, also where the package is installed to be edited."""


class Mutant(NamedTuple):
    """A module with one error in it."""

    path: Path
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.before}  ->  {self.after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(PACKAGES))
    parser.add_argument("--count", type=int, default=40, help="errors per package (40)")
    parser.add_argument("--seed", type=int, default=12345, help="of the sample (12345)")
    parser.add_argument("--match", default="", help="only errors whose line has this text")
    parser.add_argument("--tests", nargs="+", help="run these tests, instead of the package's own")
    options = parser.parse_args()
    if unknown := [name for name in options.packages if name not in PACKAGES]:
        parser.error(f"no tests are known for {unknown[0]}: choose from {', '.join(PACKAGES)}")
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        killed = total = 0
        for name in options.packages or PACKAGES:
            mutants = [each for each in mutants_of(name) if options.match in str(each)]
            sample = random.Random(options.seed).sample(mutants, min(options.count, len(mutants)))
            noticed = sum(try_all(sample, options.tests or PACKAGES[name], copy))
            print(f"{name}: {noticed} of {len(sample)} noticed, of {len(mutants)} that can be made")
            killed, total = killed + noticed, total + len(sample)
    print(f"score: {killed / max(total, 1):.0%} ({killed} of {total})")


def copied(folder: Path) -> Path:
    """A copy of the sources with the compiled kernel in it, to be changed."""
    from assay.kernel import _native

    copy = folder / "src"
    shutil.copytree(SOURCE, copy / "assay", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_native.__file__, copy / "assay" / "kernel")
    compileall.compile_dir(copy, quiet=1)
    return copy


def mutants_of(package: str) -> list[Mutant]:
    """Every error that can be made in a package, in the order of its files and lines."""
    if package == "metrics":
        paths = [SOURCE / "metrics" / f"{name}.py" for name in STRING_METRICS]
    else:
        paths = sorted((SOURCE / package).rglob("*.py"))
    return [each for path in paths if path.stem not in LEFT_OUT for each in mutants_in(path)]


def mutants_in(path: Path) -> Iterator[Mutant]:
    """Every error that can be made in a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in computing(tree):
        for attribute, wrong in errors(node):
            right, before = getattr(node, attribute), ast.unparse(node)
            setattr(node, attribute, wrong)
            text, after = ast.unparse(tree), ast.unparse(node)
            setattr(node, attribute, right)
            yield Mutant(path.relative_to(ROOT), node.lineno, before, after, text)


def computing(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a module that are run to compute: no types, decorators or error messages."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, (ast.Raise, ast.JoinedStr)):
                yield from computing(child)


def errors(node: ast.AST) -> Iterator[tuple[str, object]]:
    """What can be made wrong about a node: an attribute, and a wrong value for it."""
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for wrong in SWAPS[type(operator)]:
                yield "ops", [*node.ops[:at], wrong(), *node.ops[at + 1 :]]
    elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)):
        for wrong in SWAPS.get(type(node.op), ()):
            yield "op", wrong()
    elif isinstance(node, ast.UnaryOp):
        yield "operand", ast.UnaryOp(node.op, node.operand)  # twice is as good as not at all
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "value", node.value + 1
    elif isinstance(node, ast.Constant) and type(node.value) is float:
        yield "value", node.value * 1.01 if node.value else 1.0


def try_all(mutants: list[Mutant], tests: list[str], copy: Path) -> Iterator[bool]:
    """Whether the tests notice each error; those that they do not are printed."""
    files = [file for name in tests for file in sorted(ROOT.glob(f"{name}/**/test_*.py"))]
    files += [ROOT / name for name in tests if name.endswith(".py")]
    start = time.monotonic()
    if mutants and not passes(files, copy, limit=None):
        sys.exit(f"the tests fail on sources without errors: {' '.join(tests)}")
    limit = 60 + 5 * (time.monotonic() - start)
    for mutant in mutants:
        path = copy / mutant.path.relative_to("src")
        right = path.read_text(encoding="utf-8")
        path.write_text(mutant.text, encoding="utf-8")
        survived = passes([path, *own_first(files, path)], copy, limit=limit)
        path.write_text(right, encoding="utf-8")
        if survived:
            print(f"survivor: {mutant}", flush=True)
        yield not survived


def own_first(files: list[Path], module: Path) -> list[Path]:
    """The test files, those that name the module first: they fail the soonest."""
    imported = f"{module.parent.name}.{module.stem}"
    return sorted(
        files,
        key=lambda file: (
            module.stem not in file.stem and imported not in file.read_text(encoding="utf-8")
        ),
    )


def passes(tests: list[Path], copy: Path, *, limit: float | None) -> bool:
    """Whether the tests pass on the copy; to take longer than the limit is to fail."""
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", f"--rootdir={ROOT}"]
    options += ["-c", str(ROOT / "pyproject.toml")]
    own = {"HYPOTHESIS_STORAGE_DIRECTORY": str(copy.parent / "hypothesis")}
    try:
        ran = subprocess.run(
            [sys.executable, "-B", "-c", RUN, str(copy), *options, *map(str, tests)],
            cwd=ROOT, env=os.environ | own, capture_output=True, timeout=limit, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


if __name__ == "__main__":
    main()

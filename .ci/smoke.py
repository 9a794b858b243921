"""Install a wheel into an empty environment, without a compiler, and use it: `make wheel`.

python .ci/smoke.py dist/assay_mt-*.whl
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PROGRAM = """
import sys
from pathlib import Path
import assay, sacrebleu

assert Path(assay.__file__).is_relative_to(sys.prefix), assay.__file__
hypotheses, references = ["the cat sat", "ein Hund läuft"], ["the cat sat down", "ein Hund lief"]
ours = assay.score({"a": hypotheses}, [references], ["bleu", "chrf", "ter"]).records()
theirs = [
    metric().corpus_score(hypotheses, [references]).score
    for metric in (sacrebleu.BLEU, sacrebleu.CHRF, sacrebleu.TER)
]
assert all(abs(a["score"] - b) < 1e-9 for a, b in zip(ours, theirs, strict=True)), (ours, theirs)
print("assay", assay.__version__, "on Python", sys.version.split()[0])
"""


def main() -> None:
    """Install the wheel that the first argument names, score with it and run the demonstration."""
    wheel = Path(sys.argv[1]).resolve(strict=True)
    with tempfile.TemporaryDirectory(prefix="assay-smoke-") as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        programs = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        environment |= {"PATH": str(programs), "PYTHONUTF8": "1"}

        def run(program: str, *arguments: object) -> str:
            command = [programs / program, *map(str, arguments)]
            done = subprocess.run(
                command, cwd=home, env=environment, check=True, stdout=subprocess.PIPE
            )
            return done.stdout.decode()

        run("python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel)
        print(run("python", "-c", PROGRAM), end="")
        (home / "ref.txt").write_text("The cat sat down.\nA dog runs.\n", encoding="utf-8")
        (home / "birch.txt").write_text("The cat sat down.\nA dog ran.\n", encoding="utf-8")
        table = run("assay", "score", "ref.txt", "-i", "birch.txt", "-m", "bleu", "chrf", "ter")
        assert "birch" in table, table
        print(table, end="")
        run("assay", "demo", "look")
        assert (home / "look" / "report.html").stat().st_size > 10_000
    print(f"{wheel.name} installs and works")


if __name__ == "__main__":
    main()

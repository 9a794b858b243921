"""`assay muler validate` on the command line, with tags from files."""

import json
from pathlib import Path

import pytest

from assay import progress
from assay.cli import decomposition as muler_validate
from assay.decomposition import trials as synthetic

COMMAND = "muler validate ref.txt -i a.txt --tags ref.pos a.pos"


@pytest.fixture(autouse=True)
def tags(here):
    """Words by the parity of their length: two features with about half of the words each."""
    for name in ("ref", "a"):
        lines = Path(f"{name}.txt").read_text("utf-8").splitlines()
        rows = [
            " ".join("ODD" if len(word) % 2 else "EVEN" for word in line.split()) for line in lines
        ]
        Path(f"{name}.pos").write_text("\n".join(rows) + "\n", "utf-8")


def test_all_three_checks_get_a_verdict(run):
    ran = run(f"{COMMAND} -F tags:ODD tags:EVEN --draws 30")
    assert (ran.status, ran.err) == (0, "")
    head = ran.out.partition("\n\n")[0]
    assert [line.split()[-1] for line in head.splitlines()[3:] if line.endswith(" holds")] == [
        "holds"
    ] * 3
    assert "30 draws on all 120 segments." in ran.out


def test_the_records_are_those_of_the_alphas_and_draws(run):
    ran = run(f"{COMMAND} -F tags:ODD --alphas 0.2 0.6 --draws 12 --segments 80 --format json")
    assert ran.err == ""
    found = json.loads(ran.out)["records"]
    ranges = [each for each in found if each["check"] == "range"]
    assert [each["alpha"] for each in ranges] == [0, 0.2, 0.6, 1]
    assert ranges[0]["hybrid"] == ranges[0]["anti"] < ranges[0]["oracle"] == ranges[-1]["hybrid"]
    (random,) = (each for each in found if each["check"] == "specificity")
    assert (random["draws"], random["groups"]) == (12, 2)
    assert random["random_n"] <= 80
    assert [each["alpha"] for each in found if each["check"] == "robustness"] == [0.2, 0.6, 1]


def test_lower_case_hybrids_are_others(run):
    line = f"{COMMAND} -F tags:ODD --draws 0 --format json"
    all_words, lower = (json.loads(run(f"{line} {more}").out) for more in ("", "--lower-initial"))
    ends = [each["records"][0]["oracle"] for each in (all_words, lower)]
    assert ends[0] != ends[1]


def test_a_check_that_does_not_hold_is_the_exit_code(run):
    """Words in alternation: nothing that is random scores alike on so short a text."""
    Path("r").write_text("one two six ten\n" * 20 + "red blue green pink\n" * 20)
    Path("s").write_text("one two six ten\n" * 20 + "cat dog bird cow\n" * 20)
    for name in "rs":
        Path(f"{name}.pos").write_text("A B A B\n" * 40)
    ran = run("muler validate r -i s --tags r.pos s.pos -F tags:A --draws 40")
    assert ran.status == 1
    assert "does not hold" in ran.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("-F tags:ODD --alphas 2", "alpha 2 is no share of words"),
        ("-F tags:ODD --alphas half", "invalid float value: 'half'"),
        ("-F tags:ODD --draws -1", "give at least 0, not -1"),
        ("-F tags:ODD -m bleu chrf", "looks at one metric"),
        ("-F tags:ODD --preset x", "no preset 'x'"),
    ],
)
def test_bad_settings_are_refused(refusal, more, message):
    assert message in refusal(f"{COMMAND} {more}")


@pytest.mark.parametrize("quiet", [True, False])
def test_the_draws_have_a_bar_unless_quiet(run, monkeypatch, quiet):
    bars = []

    def watched(steps, *, total, label, quiet):
        done = list(progress.track(steps, total=total, label=label, quiet=quiet))
        bars.append((label, total, len(done), quiet))
        return done

    monkeypatch.setattr(muler_validate, "track", watched)
    monkeypatch.setattr(synthetic, "BATCH", 1200)
    ran = run(f"{COMMAND} -F tags:ODD --draws 12" + " -q" * quiet)
    assert ran.err == ""
    assert bars == [("Drawing", 3, 3, quiet)]

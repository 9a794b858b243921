"""A bar appears on a terminal when work takes long, and nowhere else."""

import io
import os
import pty
import select
from contextlib import contextmanager

import pytest

from assay import progress
from tests.patience import PATIENCE


@contextmanager
def terminal():
    """A terminal as standard error; what is read from it is what a person sees."""
    main, side = pty.openpty()
    # Not in a fixture: between set-up and test, pytest puts its own standard error back.
    with os.fdopen(side, "w", encoding="utf-8") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", stream)
        patch.setenv("TERM", "xterm")
        yield main
    os.close(main)


def seen(main, seconds=0.0):
    """What stands on the terminal, waiting so long for something to come."""
    ready, _, _ = select.select([main], [], [], seconds)
    return os.read(main, 65536).decode() if ready else ""


def slow(main, shown, labels=("Scoring",)):
    """Three steps; the second one lasts until the bars are there."""
    yield 1
    while not all(label in "".join(shown) for label in labels):
        shown.append(seen(main, PATIENCE))
        assert shown[-1], "no bar appears"
    yield 2
    yield 3


def rest(main):
    """What is still to come, up to the cursor's being shown again."""
    shown = ""
    while "\x1b[?25h" not in shown:
        more = seen(main, PATIENCE)
        assert more, "the cursor does not come back"
        shown += more
    return shown


def test_slow_steps_have_a_bar_that_goes_away(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    shown = []
    with terminal() as main:
        steps = progress.track(slow(main, shown), total=3, label="Scoring")
        assert list(steps) == [1, 2, 3]
        assert "33%" in "".join(shown)
        assert "\x1b[2K" in rest(main)


def test_work_within_work_has_a_bar_below(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    shown = []

    def outer(main):
        steps = slow(main, shown, ("Around", "Scoring"))
        yield from progress.track(steps, total=3, label="Scoring")

    with terminal() as main:
        for _ in progress.track(range(1), total=1, label="Around"):
            assert list(outer(main)) == [1, 2, 3]
        assert "33%" in "".join(shown) + rest(main)


def test_a_step_that_fails_takes_the_bar_away(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)

    def failing(main):
        yield from list(slow(main, []))[:1]
        raise ValueError("broken")

    with terminal() as main:
        with pytest.raises(ValueError, match="broken"):
            list(progress.track(failing(main), total=3, label="Scoring"))
        assert "\x1b[2K" in rest(main)


def test_quick_steps_have_none(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", PATIENCE)
    with terminal() as main:
        assert list(progress.track(range(3), total=3, label="Scoring")) == [0, 1, 2]
        assert seen(main) == ""


def test_quiet_steps_have_none(monkeypatch):
    monkeypatch.setattr(progress, "_Bar", None)
    with terminal() as main:
        assert list(progress.track(range(3), total=3, label="Scoring", quiet=True)) == [0, 1, 2]
        assert seen(main) == ""


def test_a_file_gets_no_bar(monkeypatch):
    monkeypatch.setattr(progress, "_Bar", None)
    monkeypatch.setattr("sys.stderr", stream := io.StringIO())
    assert list(progress.track(range(3), total=3, label="Scoring")) == [0, 1, 2]
    assert stream.getvalue() == ""


def test_a_bar_that_comes_too_late_stays_away():
    with terminal() as main:
        bar = progress._Bar("Scoring", 3)
        bar.stop()
        bar._show()
        assert seen(main) == ""

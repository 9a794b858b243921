"""Three people, one of whom joins late, and a tenth judged twice: no judgement is made in vain."""

import numpy as np
import pytest

from tests.suites.store.project import Project, wanted
from tests.suites.store.samples import fill, item, rows


@pytest.mark.parametrize("seed", [1, 2])
def test_everybody_is_busy_to_the_end_and_nothing_is_judged_in_vain(store, seed):
    names = [f"{at:03}" for at in range(50)]
    runs = {
        f"s{system}": {
            name: f"so {system % (at % 6 + 1)}" for at, name in enumerate(names) if at % 5
        }
        for system in range(6)
    }
    people = ("Ann", "Ben", "Cem")
    ids = fill(store, [item(name) for name in names], runs, people=people)
    project = Project(store, dict(zip(people, ids, strict=True)), np.random.default_rng(seed))
    project.deal("Ann", "Ben")
    project.work(("Ann", "Ben"), most=50)
    project.deal(*people)
    project.work(people)
    total, doubled = wanted(store)
    assert doubled == pytest.approx(total / 10, abs=1)
    assert sum(project.made.values()) == total + doubled
    assert project.idle == 0
    left = "SELECT count(*) FROM outputs WHERE verdict = 'warning' AND NOT disputed"
    assert rows(store, left) == [(0,)]


def test_without_shares_people_do_not_judge_the_same(store):
    names = [f"{at:03}" for at in range(30)]
    runs = {f"s{system}": {name: f"so {system}" for name in names} for system in range(3)}
    people = ("Ann", "Ben", "Cem")
    ids = fill(store, [item(name) for name in names], runs, people=people)
    project = Project(store, dict(zip(people, ids, strict=True)), np.random.default_rng(1))
    project.work(people)
    assert sum(project.made.values()) == wanted(store)[0] == 90
    assert min(project.made.values()) > 0
    assert project.idle == 0

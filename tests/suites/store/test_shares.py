"""Items are shared out by weight, a sample to two people, and ratings are what both said."""

import numpy as np
import pytest

from assay.data import DataError
from assay.statistics.correlation import krippendorff_alpha
from assay.suites.store.dealing import assign, clear, shares
from assay.suites.store.decisions import save_decision
from assay.suites.store.ratings import ratings
from assay.suites.store.records import Share
from tests.suites.store.samples import fill, item, rows


@pytest.fixture
def many(store):
    """100 items with 0 to 4 warnings each, and three people."""
    names = [f"{at:03}" for at in range(100)]
    runs = {
        f"s{system}": {
            name: f"so {system % (at % 5 + 1)}" for at, name in enumerate(names) if at % 5
        }
        for system in range(5)
    }
    fill(store, [item(name) for name in names], runs, people=("Ann", "Ben", "Cem"))
    return store


def share(store, weights, seed=1, **options):
    with store.write() as conn:
        assign(conn, weights, rng=np.random.default_rng(seed), **options)
        return {each.person: each for each in shares(conn)}


def test_everybody_gets_warnings_by_weight(many):
    total = rows(many, "SELECT count(*) FROM outputs WHERE ruled = 'warning'")[0][0]
    found = share(many, {"Ann": 1, "Ben": 2, "Cem": 0}, double=0)
    assert set(found) == {"Ann", "Ben"}
    assert found["Ann"].outputs + found["Ben"].outputs == total
    assert found["Ann"].outputs == pytest.approx(total / 3, abs=2)
    assert found["Ann"].items + found["Ben"].items == 80
    assert (found["Ann"].doubled, found["Ann"].done) == (0, 0)


@pytest.mark.parametrize("double", [0.1, 0.5, 1])
def test_a_sample_of_the_items_with_warnings_goes_to_two(many, double):
    found = share(many, {"Ann": 1, "Ben": 1, "Cem": 1}, double=double)
    dealt = "SELECT item_id, output_id FROM assignments JOIN outputs ON outputs.id = output_id"
    twice = rows(many, f"{dealt} GROUP BY item_id, output_id HAVING count(*) = 2")
    assert len({item for item, _ in twice}) == 80 * double
    assert sum(each.doubled for each in found.values()) == 2 * len(twice)


def test_one_person_gets_everything_once(many):
    found = share(many, {"Ann": 3}, double=0.5)
    assert found == {"Ann": Share("Ann", 80, 0, found["Ann"].outputs, 0)}


def test_the_same_seed_gives_the_same_shares(many):
    asked = "SELECT output_id, annotator_id FROM assignments ORDER BY 1, 2"
    share(many, {"Ann": 1, "Ben": 1})
    first = rows(many, asked)
    share(many, {"Ann": 1, "Ben": 1}, seed=2)
    assert rows(many, asked) != first
    share(many, {"Ann": 1, "Ben": 1})
    assert rows(many, asked) == first
    with many.write() as conn:
        clear(conn)
        assert shares(conn) == []


@pytest.mark.parametrize(
    ("weights", "double", "complaint"),
    [
        ({}, 0, "at least one"),
        ({"Ann": 0}, 0, "at least one"),
        ({"An": 1}, 0, "nobody is called 'An'.*'Ann'"),
        ({"Ann": -1}, 0, "weight of Ann"),
        ({"Ann": float("nan")}, 0, "weight of Ann"),
        ({"Ann": 1}, 1.5, "from 0 to 1"),
    ],
)
def test_shares_that_make_no_sense_are_refused(many, weights, double, complaint):
    share(many, {"Ben": 1})
    with pytest.raises(DataError, match=complaint):
        share(many, weights, double=double)
    assert rows(many, "SELECT count(*) FROM assignments") == [(280,)]


def test_what_is_done_of_a_share_is_counted(many):
    found = share(many, {"Ann": 1, "Ben": 1}, double=1)
    ids = [id_ for (id_,) in rows(many, "SELECT id FROM outputs ORDER BY id")][:3]
    with many.write() as conn:
        for id_, choice in zip(ids, ("pass", "fail", "skip"), strict=True):
            save_decision(conn, id_, 1, choice, seen=0)
        done = {each.person: each.done for each in shares(conn)}
    assert done == {"Ann": 2, "Ben": 0}
    assert found["Ann"].done == 0


def test_ratings_are_the_words_on_what_several_judged(many):
    ids = [id_ for (id_,) in rows(many, "SELECT id FROM outputs ORDER BY id")]
    said = [
        (0, 1, "pass"),
        (0, 2, "fail"),
        (1, 1, "pass"),
        (1, 3, "pass"),
        (2, 1, "fail"),  # by one person alone
        (3, 1, "fail"),
        (3, 2, "skip"),  # which is no word
        (4, 2, "pass"),
        (4, 3, "fail"),
        (4, 3, "pass"),  # which replaces the one before
    ]
    with many.write() as conn:
        versions = dict.fromkeys(ids, 0)
        for at, who, choice in said:
            save_decision(conn, ids[at], who, choice, seen=versions[ids[at]])
            versions[ids[at]] += 1
        save_decision(conn, ids[0], 3, "pass", seen=2, adjudication=True)  # which is none
        found = ratings(conn)
    assert found.people == ("Ann", "Ben", "Cem")
    assert found.outputs == (ids[0], ids[1], ids[4])
    nan = np.nan
    assert np.array_equal(found.codes, [[1, 1, nan], [0, nan, 1], [nan, 1, 1]], equal_nan=True)
    words = [[None if np.isnan(code) else code for code in row] for row in found.codes]
    assert krippendorff_alpha(words) == pytest.approx(0.0)


def test_without_common_work_there_are_no_ratings(store):
    with store.read() as conn:
        found = ratings(conn)
    assert (found.people, found.outputs, found.codes.shape) == ((), (), (0, 0))

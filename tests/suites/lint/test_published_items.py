"""The linter on the published German-English items, beside slow and obvious counts."""

import json
import re
from collections import Counter

import pytest

from assay.suites.files import read_suite
from assay.suites.lint import lint_suite
from assay.suites.lint.patterns import outline

SIDES = (("positive", "negative"), ("negative", "positive"))


@pytest.fixture(scope="module")
def path(shared):
    return shared / "testsuite/de-en/items.json"


@pytest.fixture(scope="module")
def items(path):
    return json.loads(path.read_text("utf-8"))["items"]


@pytest.fixture(scope="module")
def result(path):
    # More time than anybody needs: a busy machine makes no pattern explosive.
    return lint_suite(read_suite(path), limit=20)


def of(result, check):
    return [problem for problem in result.problems if problem.check == check]


def tokens(item, side):
    return [token.strip() for token in item[f"{side}_tokens"] if token.strip()]


def verdict(item, output):
    """The decision procedure, written out."""

    def found(side):
        return bool(item[f"{side}_regex"] and re.search(item[f"{side}_regex"], output))

    good, bad = found("positive"), found("negative")
    if not good and not bad:
        good = any(token in output for token in tokens(item, "positive"))
        bad = any(token in output for token in tokens(item, "negative"))
    return {(True, False): "pass", (False, True): "fail"}.get((good, bad), "warning")


def test_contradictions_are_the_tokens_that_do_not_get_their_own_verdict(items, result):
    wanted = {"positive": "pass", "negative": "fail"}
    slow = Counter()
    for item in items:
        for side in wanted:
            for token in item[f"{side}_tokens"]:
                if token.strip() and (given := verdict(item, token)) != wanted[side]:
                    slow[item["id"], "warning" if given == "warning" else "error"] += 1
    told = of(result, "contradiction")
    assert Counter((problem.item, problem.severity) for problem in told) == slow
    assert Counter(problem.severity for problem in told) == {"error": 52, "warning": 9}


def test_empty_tokens_copies_and_strings_on_both_sides_are_counted_as_they_stand(items, result):
    assert (
        len(of(result, "empty"))
        == 3
        == sum(
            not token.strip()
            for item in items
            for side, _ in SIDES
            for token in item[f"{side}_tokens"]
        )
    )
    copies = [len(each) - len(set(each)) for item in items for side, _ in SIDES
              for each in [tokens(item, side)]]  # fmt: skip
    assert len(of(result, "duplicate")) == 34 == sum(copies)
    both = [item["id"] for item in items
            if set(tokens(item, "positive")) & set(tokens(item, "negative"))]  # fmt: skip
    assert [problem.item for problem in of(result, "both-sides")] == both == ["00535003"]


def test_shadowed_tokens_are_those_that_another_rule_of_their_side_finds(items, result):
    slow = Counter()
    for item in items:
        for (side, _), wanted in zip(SIDES, ("pass", "fail"), strict=True):
            pattern = item[f"{side}_regex"]
            for token in tokens(item, side):
                others = (each for each in tokens(item, side) if each != token)
                found = pattern and re.search(pattern, token)
                if (found or any(each in token for each in others)) and verdict(
                    item, token
                ) == wanted:
                    slow[item["id"]] += 1
    told = [each for each in of(result, "shadowed") if "the alternative" not in each.message]
    assert Counter(problem.item for problem in told) == slow
    assert len(told) == 270


def test_every_item_has_rules_and_249_have_none_against(items, result):
    against = [
        item for item in items if not item["negative_regex"] and not tokens(item, "negative")
    ]
    assert {each.item for each in of(result, "one-sided")} == {each["id"] for each in against}
    assert len(of(result, "one-sided")) == 249
    assert of(result, "no-rule") == []


def test_small_phenomena_are_counted(items, result):
    sizes = Counter((item["category"], item["phenomenon"]) for item in items)
    small = sum(size < 20 for size in sizes.values())
    assert len(of(result, "few-items")) == 82 == small


def test_the_misspelt_category_is_the_only_suspicious_name(result):
    [problem] = of(result, "similar-names")
    assert problem.message == (
        "category 'Named entitiy & terminology' (44 items) is 'Named entity & terminology' "
        "in the published suite"
    )


def test_175_sources_stand_in_two_phenomena(items, result):
    sources = Counter(" ".join(item["source_sentence"].split()) for item in items)
    assert sum(count > 1 for count in sources.values()) == 175
    shared = [
        re.search(r"share (\d+|a) source", each.message) for each in of(result, "same-source")
    ]
    assert sum(1 if each[1] == "a" else int(each[1]) for each in shared) == 175


def test_all_patterns_are_read_and_none_explodes(result):
    for check in ("broken", "explosive", "everything", "dialect"):
        assert of(result, check) == []


def test_the_outlines_of_the_patterns_match_what_the_patterns_match(items):
    patterns = Counter()
    for item in items:
        outputs = [*item["positive_tokens"], *item["negative_tokens"], item["source_sentence"]]
        for side, _ in SIDES:
            if text := item[f"{side}_regex"]:
                patterns[text] += 1
                again = "|".join("".join(map(str, branch)) for branch in outline(text))
                assert [bool(re.search(text, output)) for output in outputs] == [
                    bool(re.search(again, output)) for output in outputs
                ]
    assert len(patterns) == 2627

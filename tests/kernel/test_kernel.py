"""The kernel takes only what it can read, and gives the same on any number of threads."""

import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import kernel
from assay.data import Segment
from assay.text import prepare
from tests.corpora import HOSTILE, SHORT, hostile, texts, uneven

CLASSES = prepare([], "intl").classes
CALLS = {
    "word_ngrams": lambda segments, **more: kernel.word_ngrams(segments, "13a", b"", 4, **more),
    "word_ngrams, intl": lambda segments, **more: kernel.word_ngrams(
        segments, "intl", CLASSES, 4, **more
    ),
    "character_ngrams": lambda segments, **more: kernel.character_ngrams(
        segments, 6, 2, 4.0, False, False, False, **more
    ),
    "shifted_edits": lambda segments, **more: kernel.shifted_edits(segments, "none", b"", **more),
    "edits": lambda segments, **more: kernel.edits(segments, "char", b"", **more),
    "rouge": lambda segments, **more: kernel.rouge(segments, 2, False, True, **more),
    "rouge, summary": lambda segments, **more: kernel.rouge(segments, 0, True, False, **more),
    "type_counts": lambda segments, **more: kernel.type_counts(
        segments, "13a", b"", False, 1, 2, **more
    ),
    "type_counts of characters": lambda segments, **more: kernel.type_counts(
        segments, "none", b"", True, 1, 3, **more
    ),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)

GOOD = ("a b", ("a c",))
BAD = {
    "nothing": None,
    "a number": 7,
    "numbers": [1, 2],
    "a string": "ab",
    "strings": ["ab", "cd"],
    "lists": [["a", ["b"]]],
    "an empty tuple": [()],
    "a hypothesis alone": [("a",)],
    "a reference that is no tuple": [("a", "b")],
    "a list of references": [("a", ["b"])],
    "no references": [("a", ())],
    "no reference": [("a", None)],
    "a reference of None": [("a", ("b", None))],
    "a reference of bytes": [("a", (b"b",))],
    "a nested tuple": [("a", (("b",),))],
    "a hypothesis of None": [(None, ("b",))],
    "a hypothesis of bytes": [(b"a", ("b",))],
    "a hypothesis of numbers": [(1.5, ("b",))],
    "one bad segment among good ones": [GOOD] * 50 + [("a", (3,))] + [GOOD] * 50,
}


@pytest.mark.parametrize("segments", BAD.values(), ids=BAD)
@every_call
def test_bad_segments_are_type_or_value_errors(call, segments):
    with pytest.raises((TypeError, ValueError)):
        call(segments)


anything = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.binary(max_size=3) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=12,
)


@given(segments=anything | st.lists(st.tuples(anything, anything), max_size=4))
@settings(max_examples=60, deadline=None)
@every_call
def test_anything_is_either_counted_or_refused(call, segments):
    readable = isinstance(segments, (list, tuple, str, bytes)) and all(map(_is_segment, segments))
    if readable:
        call(segments)
    else:
        with pytest.raises((TypeError, ValueError)):
            call(segments)


def _is_segment(each):
    return (
        isinstance(each, tuple)
        and len(each) > 1
        and isinstance(each[0], str)
        and isinstance(each[1], tuple)
        and len(each[1]) > 0
        and all(isinstance(line, str) for line in each[1])
    )


@every_call
def test_an_iterator_of_segments_that_fails_says_why(call):
    def failing():
        yield GOOD
        raise RuntimeError("the file ended early")

    with pytest.raises(RuntimeError, match="the file ended early"):
        call(failing())


@every_call
def test_no_segments_give_no_rows(call):
    result = call([])
    rows = result[1] if isinstance(result, tuple) else result
    assert len(rows) == 0


class Line(str):
    """A string by another name."""

    __slots__ = ()


@every_call
def test_subclasses_of_strings_and_tuples_are_read_as_such(call):
    plain = texts(8, references=2).segments()
    dressed = [
        Segment(Line(each.hypothesis), tuple(map(Line, each.references)), "source")
        for each in plain
    ]
    assert _plain(call(dressed)) == _plain(call([tuple(each) for each in plain]))


@pytest.mark.parametrize("name", ["", "13A", "zh", "intl\x00", "ünknown"])
def test_an_unknown_native_tokenizer_is_a_value_error(name):
    with pytest.raises(ValueError, match="tokenizer"):
        kernel.tokenize(["a"], name)
    with pytest.raises(ValueError, match="tokenizer"):
        kernel.word_ngrams([GOOD], name, b"", 4)


@pytest.mark.parametrize("lines", [None, 3, [None], [b"a"], ["a", 1]])
def test_only_strings_are_tokenized(lines):
    with pytest.raises(TypeError):
        kernel.tokenize(lines, "13a")


@pytest.mark.parametrize("order", [-1, 256, 10**9, 2**61, 2**63, 2**64, None, 1.5, "4"])
def test_an_order_is_a_whole_number_that_is_not_negative(order):
    segments = [GOOD] * 8
    errors = pytest.raises((TypeError, ValueError))
    with errors:
        kernel.word_ngrams(segments, "none", b"", order)
    with errors:
        kernel.character_ngrams(segments, order, 0, 4.0, False, False, False)
    with errors:
        kernel.character_ngrams(segments, 0, order, 4.0, False, False, False)
    with errors:
        kernel.character_ngrams(segments, order, order, 4.0, False, False, False)
    with errors:
        kernel.rouge(segments, order, False, False)
    with errors:
        kernel.type_counts(segments, "none", b"", False, 1, order)


def test_a_short_table_of_character_classes_is_never_read_past_its_end():
    assert kernel.tokenize(["a€.b"], "intl", b"") == [["a€.b"]]
    assert kernel.tokenize(["a.b€"], "intl", CLASSES[:100]) == [["a", ".", "b€"]]


@pytest.mark.parametrize("threads", [2, 3, 64, -1])
@every_call
def test_results_do_not_depend_on_the_number_of_threads(call, threads):
    segments = [*uneven().segments(), *texts(120).segments(), *hostile(SHORT).segments()]
    assert _plain(call(segments, threads=threads)) == _plain(call(segments, threads=1))
    assert _plain(call(segments)) == _plain(call(segments))


def _plain(result):
    if isinstance(result, tuple):
        return [_plain(part) for part in result]
    return result.tolist() if isinstance(result, np.ndarray) else result


@every_call
def test_other_python_threads_run_while_the_kernel_works(call):
    segments = texts(120, references=3).segments() * 40
    done = threading.Event()
    results = []

    def work():
        while not done.is_set():
            results.append(_plain(call(segments[:40])))

    other = threading.Thread(target=work)
    other.start()
    mine = [_plain(call(segments)) for _ in range(3)]
    done.set()
    other.join()
    assert mine[0] == mine[1] == mine[2]
    assert all(each == results[0] for each in results)


def test_the_gil_is_released_while_the_kernel_works():
    # The switch interval is longer than the test: this thread and the other one take turns only
    # where the GIL is given up.
    segments = texts(120, references=3).segments() * 100
    before, turns, started, done = sys.getswitchinterval(), [], threading.Event(), threading.Event()

    def count():
        started.set()
        while not done.is_set():
            turns.append(None)
            done.wait(0.0005)

    sys.setswitchinterval(1000)
    try:
        other = threading.Thread(target=count)
        other.start()
        started.wait()
        at_start = len(turns)
        # On a busy machine, the other thread may be left out for a while.
        for _ in range(100):
            kernel.character_ngrams(segments, 6, 2, 4.0, False, False, False)
            if during := len(turns) - at_start:
                break
    finally:
        sys.setswitchinterval(before)
        done.set()
        other.join()
    assert during > 0


@every_call
def test_the_kernel_keeps_no_hold_on_what_it_was_given(call):
    hypothesis, references = "".join(["a ", "b"]), ("".join(["a ", "c"]),)
    segment = (hypothesis, references)
    segments = [segment] * 3
    things = (hypothesis, references, references[0], segment, segments)
    before = [sys.getrefcount(each) for each in things]
    for _ in range(5):
        call(segments)
        with pytest.raises((TypeError, ValueError)):
            call([*segments, None])
    assert [sys.getrefcount(each) for each in things] == before


@every_call
def test_results_outlive_their_input_and_can_be_written_to(call):
    result = call([("".join(["x", "y"]), ("x y",))] * 40)
    for array in result[:3] if isinstance(result, tuple) else [result]:
        copied = array.copy()
        call(hostile(SHORT).segments())
        assert (array == copied).all()
        array[...] = 0
        assert not array.any()


@every_call
def test_hostile_lines_are_counted_on_every_thread(call):
    segments = [
        *hostile(SHORT).segments(),
        *[Segment(line, (line,)) for line in HOSTILE.values() if len(line) < 30_000],
    ]
    call(segments)


@pytest.mark.parametrize(
    "words", [("a",), ("a", "é", "猫"), ("é", "b"), ("\U0001f600", "", "x"), ()]
)
def test_masked_texts_are_the_words_and_masks_with_blanks_between(words):
    keep = np.random.default_rng(1).random((20, len(words))) < 0.5
    for mask in ("_", "ü", "犬"):
        slow = [" ".join(np.where(row, words, mask)) for row in keep] if words else [""] * 20
        found = kernel.masked(words, keep, mask)
        assert found == slow
        # Equal strings have equal hashes only if each is stored as narrowly as it can be.
        assert list(map(hash, found)) == list(map(hash, slow))


def test_masks_that_do_not_fit_the_words_are_errors():
    with pytest.raises(ValueError, match="one column for every word"):
        kernel.masked(("a", "b"), np.ones((2, 3), bool), "_")
    with pytest.raises(TypeError):
        kernel.masked(("a", 1), np.ones((1, 2), bool), "_")

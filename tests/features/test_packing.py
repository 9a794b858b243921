"""Annotations survive being written down."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.features.annotation import Annotation, TokenSpan, pack, shared_span, unpack

SPANS = st.lists(st.builds(TokenSpan, st.integers(0, 99), st.integers(0, 99), st.text()))
ANNOTATIONS = st.builds(
    Annotation,
    st.lists(st.text()).map(tuple),
    st.dictionaries(st.text(), SPANS.map(tuple)),
)


@given(ANNOTATIONS)
def test_what_is_packed_comes_back(annotation):
    back = unpack(json.loads(json.dumps(pack(annotation))))
    assert back == annotation
    assert all(isinstance(span, TokenSpan) for spans in back.layers.values() for span in spans)


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        "ab",
        [],
        [["a"]],
        [["a"], {}, {}],
        [["a"], []],
        [[1], {}],
        [["a"], {"upos": [[0], [1]]}],
        [["a"], {"upos": [[0], [1], ["X", "Y"]]}],
        [["a"], {"upos": [[0], [1], [["X"]]]}],
        [["a"], {"upos": 3}],
    ],
)
def test_anything_else_is_an_error(value):
    with pytest.raises(ValueError, match="not an annotation"):
        unpack(value)


def test_equal_spans_are_one():
    assert shared_span(3, 5, "PERSON") is shared_span(3, 5, "PERSON") == TokenSpan(3, 5, "PERSON")

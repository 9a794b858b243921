"""One registry for all kinds: built-in, registered and plugged in, with one way to ask."""

import importlib
import sys
import textwrap
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import assay
from assay.agreement.coefficients import COEFFICIENTS, Coefficient, Kendall, Pearson
from assay.agreement.retrieval.measures import MEASURES
from assay.data import DataError
from assay.explanation.explainers import EXPLAINERS, LIME
from assay.features.select import ANNOTATORS
from assay.io.datasets import READERS
from assay.metrics.base import METRICS
from assay.registry import PluginWarning, Registry, read_specification
from assay.rendering.formats import FORMATS

WITH_SETTINGS = (METRICS, EXPLAINERS, COEFFICIENTS, MEASURES)
REGISTRIES = (*WITH_SETTINGS, ANNOTATORS, READERS, FORMATS)
with_settings = pytest.mark.parametrize("registry", WITH_SETTINGS, ids=lambda each: each.kind)


@with_settings
def test_every_listed_name_is_a_class_with_that_name(registry):
    for name in registry.names():
        assert registry.get(name).name == name
        assert issubclass(registry.get(name), registry.base)


@with_settings
def test_a_thing_passes_through_and_anything_else_is_refused(registry):
    thing = registry.parse(registry.names()[0])
    assert registry.parse(thing) is thing
    with pytest.raises(DataError, match=f"5 is no {registry.kind}: pass a name or a"):
        registry.parse(5)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda each: each.kind)
def test_a_misspelt_name_is_corrected(registry):
    name = registry.names()[-1]
    with pytest.raises(DataError, match=rf"unknown {registry.kind} '{name}_' \(did you mean") as e:
        registry.parse(f"{name}_")
    assert str(registry) in str(e.value)


@with_settings
def test_several_are_a_list_without_duplicates(registry):
    name = registry.names()[0]
    assert registry.parse_all([name]) == [registry.parse(name)]
    with pytest.raises(DataError, match=f"{registry.kind} {name} is given twice"):
        registry.parse_all([name, registry.parse(name)])
    with pytest.raises(DataError, match=f"{registry.kind}s are a list"):
        registry.parse_all(name)


@pytest.mark.parametrize(
    ("registry", "text", "thing"),
    [
        (COEFFICIENTS, "tau", Kendall()),
        (COEFFICIENTS, "Kendall-c", Kendall("c")),
        (EXPLAINERS, "LIME:samples=50", LIME(samples=50)),
        (EXPLAINERS, "lime(samples=50, width=3)", LIME(samples=50, width=3)),
    ],
)
def test_short_forms_and_brackets_are_read(registry, text, thing):
    assert registry.parse(text) == thing


def test_commas_in_brackets_belong_to_what_is_inside():
    assert read_specification("a:b=c(d=1,e=f(g=2,h=3)),i=4").options == {
        "b": "c(d=1,e=f(g=2,h=3))",
        "i": "4",
    }


@dataclass(frozen=True)
class Closeness(Coefficient):
    """One less the mean distance."""

    name: ClassVar[str] = "closeness"
    title: ClassVar[str] = "closeness"

    def each(self, metric, gold):
        return 1 - np.abs(metric - gold).mean(axis=-1)


def test_register_finds_the_registry_by_the_base_class(monkeypatch):
    monkeypatch.setattr(COEFFICIENTS, "_registered", {})
    assert assay.register(Closeness) is Closeness
    assert COEFFICIENTS.parse("closeness") == Closeness()
    assert "closeness" in COEFFICIENTS.names()
    assert "closeness" not in METRICS


def test_what_nothing_can_use_is_not_registered(monkeypatch):
    with pytest.raises(DataError, match="int derives from none of Metric, Explainer, Coefficient"):
        assay.register(int)
    with pytest.raises(DataError, match="called 'pearson' already"):
        COEFFICIENTS.register(Pearson)


PLUGIN = """
    from dataclasses import dataclass
    from typing import ClassVar
    from assay import Coefficient

    @dataclass(frozen=True)
    class Fine(Coefficient):
        name: ClassVar[str] = "fine"
        title: ClassVar[str] = "fine"
        strict: bool = False

        def each(self, metric, gold):
            return metric[..., 0] * 0

    number = 5
"""


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """An installed package with a coefficient that works, and three that do not."""
    (tmp_path / "plugin_of_mine.py").write_text(textwrap.dedent(PLUGIN))
    about = tmp_path / "plugin_of_mine-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin-of-mine\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[assay.coefficients]\nfine = plugin_of_mine:Fine\nbroken = no_such_module_at_all:x\n"
        "number = plugin_of_mine:number\npearson = plugin_of_mine:Fine\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    COEFFICIENTS.forget_plugins()
    with warnings.catch_warnings(record=True, action="always") as caught:
        yield caught
    sys.modules.pop("plugin_of_mine", None)
    COEFFICIENTS.forget_plugins()


def test_a_plug_in_is_like_a_built_in(plugins):
    coefficient = COEFFICIENTS.parse("fine:strict=yes")
    assert (str(coefficient), coefficient.strict) == ("fine:strict=yes", True)


def test_what_is_broken_costs_one_warning_each_where_names_are_listed(plugins):
    for _ in range(3):
        assert "fine" in COEFFICIENTS.names()
        assert not {"broken", "number"} & set(COEFFICIENTS.names())
    assert {str(each.message) for each in plugins} == {
        "a plug-in is left out: plugin-of-mine has a coefficient 'pearson', which is built in.",
        "a plug-in is left out: coefficient 'broken' could not be loaded: "
        "No module named 'no_such_module_at_all'",
        "a plug-in is left out: coefficient 'number': its entry point gives no Coefficient.",
    }
    assert len(plugins) == 3
    assert all(each.category is PluginWarning for each in plugins)


def test_what_is_broken_is_an_error_where_it_is_asked_for(plugins):
    with pytest.raises(DataError, match="coefficient 'broken' could not be loaded: No module"):
        COEFFICIENTS.parse("broken")
    with pytest.raises(DataError, match="coefficient 'number': its entry point gives no Coeff"):
        COEFFICIENTS.parse("number")
    assert COEFFICIENTS.parse("pearson") == Pearson()


def test_a_thing_without_settings_takes_none():
    numbers = Registry("number", "assay.numbers", {"one": "operator:index"}, base=int)
    with pytest.raises(DataError, match="number 'one' has no settings; write one alone"):
        numbers.parse("one:x=1")

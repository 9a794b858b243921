"""Small suites for the tests of the linter."""

from assay.suites.lint import lint_suite
from assay.suites.model import Item, Rule, Suite, rule_id


def item(
    id="1", *, plus=(), minus=(), source="Ja.", category="C", phenomenon="P", languages="deen"
):
    """An item whose rules are fixed strings, or regular expressions between slashes."""
    rules = []
    for polarity, texts in (("positive", plus), ("negative", minus)):
        for number, text in enumerate(texts, 1):
            is_regex = text.startswith("/")
            kind, text = ("regex", text[1:-1]) if is_regex else ("fixed", text)
            rules.append(Rule(rule_id(id, polarity, number), polarity, kind, text))
    return Item(id, languages, category, phenomenon, source, tuple(rules))


def found(*items, check):
    """The problems of one check in a suite of these items: severity, item, rule, message."""
    result = lint_suite(Suite(items), only=[check], limit=5)
    return [(each.severity, each.item, each.rule, each.message) for each in result.problems]


def places(*items, check):
    """Severity, item and rule of the problems of one check."""
    return [problem[:3] for problem in found(*items, check=check)]

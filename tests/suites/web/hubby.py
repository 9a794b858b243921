"""A small suite for the tests of the pages, with runs of five systems and warnings of all kinds."""

from assay.suites.check import Checker
from assay.suites.model import Item, Rule, Run, Suite
from assay.suites.store.opening import open_store
from assay.suites.store.runs import save_run
from assay.suites.store.suites import save_suite

NASTY = (
    "<script>document.title='pwned'</script> <img src=x onerror=document.title='pwned'> "
    "\"><b onmouseover=x>'</p></main> &lt;i&gt; {{ 7 * 7 }} javascript:document.title='pwned'"
)

SUITE = Suite(
    (
        Item(
            "m1",
            "deen",
            "Ambiguity",
            "Lexical ambiguity",
            "Sie liebt ihren Mann.",
            (
                Rule("m1+1", "positive", "regex", "husband"),
                Rule("m1-1", "negative", "regex", r"\bm[ae]n\b"),
            ),
        ),
        Item(
            "m2",
            "deen",
            "Ambiguity",
            "Lexical ambiguity",
            "Ihr Mann kam.",
            (
                Rule("m2+1", "positive", "regex", "husband"),
                Rule("m2-1", "negative", "regex", r"\bm[ae]n\b"),
            ),
        ),
        Item(
            "s1",
            "deen",
            "<b>Markup</b>",
            "Script & style",
            "<i>Alles</i> ist Text.",
            (Rule("s1+1", "positive", "fixed", "<u>never</u>"),),
        ),
    ),
    name="hubby",
)

OUTPUTS = {
    "m1": (
        "She loves her spouse.",
        "She loves her spouse.",
        "She truly loves her spouse.",
        "She loves her dear spouse.",
        "She does love her spouse.",
    ),
    "m2": (
        "Her husband came.",
        "Her man came.",
        "Her hubby came.",
        "Her hubby came.",
        "Her old man, her husband, came.",
    ),
    "s1": (NASTY, NASTY, NASTY, NASTY, "All is text."),
}

SYSTEMS = ("alpha", "beta", "gamma", "delta", "epsilon")


def new_store(path):
    """A database with the suite and the runs in it, at the given path."""
    store = open_store(path, create=True)
    checker = Checker()
    with store.write() as connection:
        save_suite(connection, SUITE)
        for at, system in enumerate(SYSTEMS):
            texts = {item: outputs[at] for item, outputs in OUTPUTS.items()}
            save_run(connection, Run(system, texts), checker)
    return store

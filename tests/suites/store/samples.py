"""Small suites and ways to fill a database with them."""

import psycopg
from sqlalchemy import select

from assay.suites.check import Checker
from assay.suites.model import Item, Rule, Run, Suite, rule_id
from assay.suites.store.people import add_person
from assay.suites.store.runs import save_run
from assay.suites.store.suites import save_suite
from assay.suites.store.tables import metadata, outputs
from tests import postgresql

WRONG_SHARES = """
    SELECT assignments.output_id FROM assignments JOIN outputs ON outputs.id = output_id
    WHERE open <> (ruled = 'warning' AND verdict = 'warning' AND NOT disputed)
"""
"""Which shares of people are wrong about whether their output is open."""


def item(name="i1", positive=("good",), negative=("bad",), *, kind="fixed", category="C", **more):
    """An item with rules of one kind."""
    texts = [("positive", number, text) for number, text in enumerate(positive, 1)]
    texts += [("negative", number, text) for number, text in enumerate(negative, 1)]
    rules = tuple(
        Rule(rule_id(name, polarity, number), polarity, kind, text)
        for polarity, number, text in texts
    )
    told = {"languages": "de-en", "phenomenon": "P", "source": f"Quelle {name}"} | more
    return Item(name, category=category, rules=rules, **told)


def fill(store, items, outputs, *, campaign="", people=("Ann", "Ben")):
    """Save a suite and the runs of systems (texts by item); the numbers of the people."""
    with store.write() as conn:
        save_suite(conn, Suite(tuple(items)))
        for system, texts in outputs.items():
            save_run(conn, Run(system, texts, campaign), Checker())
        return [add_person(conn, name).id for name in people]


def rows(store, statement):
    """What the database answers to a statement."""
    with store.read() as conn:
        return [tuple(row) for row in conn.exec_driver_sql(statement)]


def state(store):
    """Verdict, by and disputed of every output, by its text."""
    found = rows(store, 'SELECT text, verdict, "by", disputed FROM outputs')
    return {text: (verdict, by, bool(disputed)) for text, verdict, by, disputed in found}


def number(store, text):
    """The number of the output with this text."""
    with store.read() as conn:
        return conn.execute(select(outputs.c.id).where(outputs.c.text == text)).scalar_one()


def emptied(socket):
    """The address of the database `made` of a PostgreSQL server, with nothing in its tables."""
    address = postgresql.address(socket, "made")
    with psycopg.connect(address) as connection:
        connection.execute(f"TRUNCATE {', '.join(metadata.tables)} RESTART IDENTITY")
    return address

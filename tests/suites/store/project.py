"""A project from the first judgement to the last: people at work, one of whom joins late."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from assay.data import DataError
from assay.suites.store.dealing import assign
from assay.suites.store.decisions import save_decision
from assay.suites.store.leases import claim, give_back
from assay.suites.store.offers import take
from assay.suites.store.queue import next_output
from assay.suites.store.tables import now
from assay.suites.store.unfinished import unfinished


@dataclass
class Project:
    """People who judge at different paces, each with the case that they look at.

    `idle` are the moments at which somebody had nothing to do while there was work for them that
    nobody looked at.
    """

    store: object
    people: dict  # the numbers by name
    rng: np.random.Generator
    double: float = 0.1
    agree: float = 0.9
    made: Counter = field(default_factory=Counter)
    taken: int = 0
    idle: int = 0
    shown: dict = field(default_factory=dict)

    def deal(self, *names):
        """Deal what is open, in equal shares."""
        lead = min(self.people.values())
        with self.store.write() as conn:
            weights = dict.fromkeys(names, 1)
            assign(conn, lead, weights, double=self.double, rng=self.rng)

    def work(self, names, most=None):
        """Let people judge until there is nothing left, or so many judgements are made."""
        end = None if most is None else sum(self.made.values()) + most
        for name in names:
            self.look(name)
        paces = self.rng.uniform(0.5, 2, len(names))
        while any(self.shown[name] for name in names):
            if end is not None and sum(self.made.values()) >= end:
                return
            name = str(self.rng.choice(names, p=paces / paces.sum()))
            if self.shown[name]:
                self.judge(name)
            self.look(name)

    def judge(self, name):
        """Decide on the case that is shown."""
        output, person = self.shown[name], self.people[name]
        right = output % 3 > 0
        choice = "pass" if right == (self.rng.random() < self.agree) else "fail"
        with self.store.write() as conn:
            asked = "SELECT version FROM outputs WHERE id = %d" % output  # noqa: UP031
            seen = conn.exec_driver_sql(asked).scalar()
            save_decision(conn, output, person, choice, seen=seen)
            give_back(conn, output, person)
        self.made[name] += 1

    def look(self, name):
        """Get the next case, or take one over."""
        person = self.people[name]
        with self.store.write() as conn:
            output = next_output(conn, person)
            if output is None:
                try:
                    take(conn, person)
                    self.taken += 1
                except DataError:
                    self.idle += self.missed(conn, person)
                output = next_output(conn, person)
            if output is not None:
                claim(conn, output, person)
        self.shown[name] = output

    def missed(self, conn, person):
        """Whether there was work that this person could do and nobody looked at."""
        work = unfinished(conn)
        asked = f"SELECT item_id FROM leases WHERE expires > '{now()}'"
        watched = {item for (item,) in conn.exec_driver_sql(asked)}
        begun = {item for item, people in work.begun.items() if people}
        for item, ids in work.open.items():
            free = item not in watched | begun
            judges = {row.person for one in ids for row in work.held.get(one, ())}
            if free and person not in judges:
                return True
        return False


def wanted(store):
    """How many judgements are needed: one for each warning, and a second one for some."""
    with store.read() as conn:
        work = unfinished(conn)
        asked = "SELECT count(DISTINCT output_id) FROM assignments WHERE second"
        return work.total, conn.exec_driver_sql(asked).scalar()

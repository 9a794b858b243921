"""The store beside a slow and obvious model of itself, through any sequence of what people do."""

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from assay.data import DataError
from assay.suites.check import decide
from assay.suites.model import Rule
from assay.suites.store.decisions import Outdated, save_decision, undo
from assay.suites.store.finding import find
from assay.suites.store.history import history
from assay.suites.store.opening import open_store
from assay.suites.store.queue import next_case
from assay.suites.store.records import Draft, Filters
from assay.suites.store.trials import save_rule
from tests.suites.store.samples import emptied, fill, item

PEOPLE = ("Ann", "Ben", "Cem")
LEADS = (0,)  # whoever came first
NAMES = ("a", "b", "c")
WORDS = ("good", "bad", "so", "hm")
RUNS = {
    "x": {"a": "so hm", "b": "so", "c": "good"},
    "y": {"a": "hm", "b": "good bad", "c": "so"},
    "z": {"a": "so hm", "b": "bad", "c": "hm hm"},
}
OUTPUTS = sorted({(name, texts[name]) for texts in RUNS.values() for name in NAMES})

people = st.integers(0, len(PEOPLE) - 1)
outputs = st.integers(0, len(OUTPUTS) - 1)


class Model(RuleBasedStateMachine):
    """A log of what people did, in order; everything else follows from it anew each time."""

    def __init__(self):
        super().__init__()
        self.store = self.new_store()
        self.ids = fill(self.store, [item(name) for name in NAMES], RUNS, people=PEOPLE)
        with self.store.read() as conn:
            found, _ = find(conn, Filters(), limit=100)
        self.output_ids = {(each.id, output.text): output.id for each, output in found}
        self.log = []
        self.moves = []  # who moved the version of which output
        self.changes = itertools.count(1)

    def new_store(self):
        raise NotImplementedError

    def teardown(self):
        self.store.close()

    def standing(self):
        """The entries that were not taken back."""
        return [entry for entry in self.log if not entry["undone"]]

    def words(self, output):
        """The last word of everybody on an output, in the order in which they were given."""
        last = {}
        for entry in self.standing():
            if entry["kind"] == "word" and entry["output"] == output:
                key = entry["who"], entry["final"]
                last.pop(key, None)
                last[key] = entry
        return [each for each in last.values() if each["choice"] != "skip"]

    def may_adjudicate(self, who, output):
        """A lead who is none of those who disagree may, and anybody else where all leads are."""
        said = {each["who"]: each["choice"] for each in self.words(output) if not each["final"]}
        may_lead = [lead for lead in LEADS if lead not in said]
        return len(set(said.values())) > 1 and who not in said and who in (may_lead or [who])

    def rules_of(self, name):
        given = item(name).rules
        added = [
            Rule("new", entry["polarity"], entry["form"], entry["text"])
            for entry in self.standing()
            if entry["kind"] == "rule" and name in entry["items"]
        ]
        return (*given, *added)

    def ruled(self, output):
        name, text = output
        return decide(text, self.rules_of(name)).verdict

    def verdict(self, output):
        words = self.words(output)
        final = [each for each in words if each["final"]]
        if final:
            return final[-1]["choice"], PEOPLE[final[-1]["who"]], False
        said = {each["choice"] for each in words}
        if len(said) > 1:
            return "warning", None, True
        if said:
            return said.pop(), PEOPLE[words[0]["who"]], False
        return self.ruled(output), "rule", False

    @rule(
        who=people,
        output=outputs,
        choice=st.sampled_from(["pass", "fail", "skip"]),
        final=st.booleans(),
        late=st.integers(0, 3),
        again=st.booleans(),
    )
    def decides(self, who, output, choice, final, late, again):
        output = OUTPUTS[output]
        moves = [mover for moved, mover in self.moves if moved == output]
        seen = max(len(moves) - late, 0)
        with self.store.write() as conn:
            arguments = conn, self.output_ids[output], self.ids[who], choice
            if final and choice == "skip":
                with pytest.raises(DataError):
                    save_decision(*arguments, seen=seen, adjudication=True)
                return
            if who in moves[seen:]:
                with pytest.raises(Outdated):
                    save_decision(*arguments, seen=seen, adjudication=final)
                return
            if final and not self.may_adjudicate(who, output):
                with pytest.raises(DataError):
                    save_decision(*arguments, seen=seen, adjudication=True)
                return
            options = {"seen": seen, "adjudication": final, "key": str(len(self.log))}
            saved = save_decision(*arguments, **options)
            if again:
                assert save_decision(*arguments, **options) == saved
        others = [
            each for each in self.words(output) if each["who"] != who and each["made"] >= seen
        ]
        met = max(others, key=lambda each: each["id"], default=None)
        assert (saved.met and saved.met.person) == (met and PEOPLE[met["who"]])
        self.moves.append((output, who))
        self.enter(kind="word", who=who, output=output, choice=choice, final=final, made=len(moves))
        assert saved.change == self.log[-1]["id"]
        assert saved.output.version == len(moves) + 1

    @rule(
        who=people,
        output=outputs,
        polarity=st.sampled_from(["positive", "negative"]),
        form=st.sampled_from(["fixed", "regex"]),
        text=st.sampled_from(WORDS),
        scope=st.sampled_from(["item", "suite"]),
    )
    def adds_a_rule(self, who, output, polarity, form, text, scope):
        own = OUTPUTS[output][0]
        new = Rule("new", polarity, form, text)
        reached = {own}
        for name, output_text in OUTPUTS if scope == "suite" else []:
            each = name, output_text
            judged = self.words(each)
            after = decide(output_text, (*self.rules_of(name), new)).verdict
            if self.ruled(each) == "warning" and not judged and after != "warning":
                reached.add(name)
        known = [(each.polarity, each.kind, each.text) for each in self.rules_of(own)]
        with self.store.write() as conn:
            draft = Draft(self.output_ids[OUTPUTS[output]], polarity, form, text, scope)
            if (polarity, form, text) in known:
                with pytest.raises(DataError):
                    save_rule(conn, draft, self.ids[who])
                return
            change = save_rule(conn, draft, self.ids[who])
        self.enter(kind="rule", who=who, items=reached, polarity=polarity, form=form, text=text)
        assert change.id == self.log[-1]["id"]

    @rule(who=people)
    def takes_the_last_back(self, who):
        mine = [entry for entry in self.standing() if entry["who"] == who]
        with self.store.write() as conn:
            undone = undo(conn, self.ids[who])
        assert (undone and undone.id) == (mine[-1]["id"] if mine else None)
        if mine:
            self.take_back(mine[-1])

    @precondition(lambda self: self.log)
    @rule(data=st.data())
    def takes_one_back(self, data):
        entry = data.draw(st.sampled_from(self.log))
        with self.store.write() as conn:
            undone = undo(conn, self.ids[entry["who"]], entry["id"])
        assert (undone is None) == entry["undone"]
        if undone:
            self.take_back(entry)

    def enter(self, **entry):
        self.log.append({"id": next(self.changes), "undone": False, **entry})

    def take_back(self, entry):
        entry["undone"] = True
        if entry["kind"] == "word":
            self.moves.append((entry["output"], entry["who"]))

    @invariant()
    def the_store_says_what_follows_from_the_log(self):
        with self.store.read() as conn:
            found, total = find(conn, Filters(), limit=100)
            told = history(conn, limit=1000)
            queues = [next_case(conn, id_) for id_ in self.ids]
        assert total == len(OUTPUTS)
        waiting = []
        for each, stored in found:
            output = each.id, stored.text
            verdict, by, disputed = self.verdict(output)
            assert (stored.verdict, stored.disputed) == (verdict, disputed)
            assert stored.ruled == self.ruled(output)
            assert by == "rule" or stored.by == by
            assert stored.version == sum(moved == output for moved, _ in self.moves)
            if stored.ruled == stored.verdict == "warning" and not disputed:
                waiting.append(output)
        assert [(entry.id, bool(entry.undone)) for entry in reversed(told)] == [
            (entry["id"], entry["undone"]) for entry in self.log
        ]
        for who, queue in enumerate(queues):
            spoken = [
                e["output"] for e in self.standing() if e["kind"] == "word" and e["who"] == who
            ]
            mine = [output for output in waiting if output not in spoken]
            assert (queue and (queue.item.id, queue.output.text)) in (mine or [None])


def test_sqlite_does_as_the_model_does(tmp_path_factory):
    class Machine(Model):
        def new_store(self):
            return open_store(tmp_path_factory.mktemp("model") / "suite.db", create=True)

    run(Machine)


def test_postgresql_does_as_the_model_does(socket):
    class Machine(Model):
        def new_store(self):
            return open_store(emptied(socket))

    run(Machine)


def run(machine):
    case = machine.TestCase
    case.settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
    case("runTest").runTest()

"""Surface faults: every detector by hand, the rates counted one by one, planted faults."""

import json
import random
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from assay.cli import main
from assay.data import DataError, Dataset, Segment
from assay.demo import read_demo
from assay.metrics.base import parse, select_metrics, system_statistics
from assay.metrics.fault_numbers import numbers_in
from assay.metrics.faults import FAULTS, Fault, Kind
from assay.scoring import score
from assay.testing import check_metric
from tests.corpora import DEMO, HOSTILE, demo

GERMAN = ("de", "en")


def flag(kind, output, source="", *references, languages=("", "")):
    """1, 0 or nan for one segment."""
    fault = Fault(kind, source=languages[0], target=languages[1])
    return fault.flags([Segment(output, references, source)])[0]


@pytest.mark.parametrize(
    ("kind", "output", "source"),
    [
        ("empty", "", "Ein Satz."),
        ("empty", "\u00a0 ", "Ein Satz."),
        ("empty", ".", "Ein Satz."),
        ("cut", "The council voted on Tuesday to", "Der Rat stimmte am Dienstag für den Abriss."),
        ("cut", "She came. He", "Sie kam. Er ging. Alle lachten."),
        ("cut", "市议会星期二", "The city council voted on Tuesday to keep the old indoor pool."),
        ("length", "A.", "Der Rat stimmte am Dienstag mit großer Mehrheit für den Abriss."),
        ("length", "It is so. " * 9, "So ist es nun einmal."),
        ("loop", "It is it is it is it is good.", "Es ist gut."),
        ("loop", "no no no no no no", "Nein."),
        ("loop", "the old town hall, the old town hall was built", "das Rathaus wurde gebaut"),
        ("loop", "他说他说他说他说", "He said."),
        ("loop", "Hahahahahahahahahaha", "Ha!"),
        ("copied", "Die Katze sitzt auf der Matte.", "Die Katze sitzt auf der Matte."),
        ("copied", "Die Katze sitzt auf der mat.", "Die Katze sitzt auf der Matte."),
        (
            "copied",
            "He said that wir uns das nicht leisten können, and left for home again.",
            "Er sagte, dass wir uns das nicht leisten können, und ging.",
        ),
        ("numbers", "It costs 25 euros.", "Es kostet 52 Euro."),
        ("numbers", "It costs euros.", "Es kostet 52 Euro."),
        ("numbers", "It costs 52 euros in 2019.", "Es kostet 52 Euro."),
        ("numbers", "It costs 1 euro.", "Es kostet 1.000 Euro."),
        ("numbers", "It rose by 3.7 %.", "Es stieg um 3,5 %."),
        ("brackets", 'He said: "Yes.', "Er sagte: „Ja.“"),
        ("brackets", "He (a man went.", "Er (ein Mann) ging."),
        ("brackets", "He [a man) went.", "Er (ein Mann) ging."),
        ("brackets", "The 'big house is old.", "Das „große Haus“ ist alt."),
        ("markup", "Hello, Name!", "Hallo, {name}!"),
        ("markup", "Hello, {Name}!", "Hallo, {name}!"),
        ("markup", "A b word", "Ein <b>Wort</b>"),
        ("markup", "Found files", "%d Dateien gefunden"),
        ("markup", "See there.", "Siehe https://example.org/a?b=c."),
        ("markup", "Write to anna at example.org", "An anna@example.org schreiben"),
        ("markup", "Thanks, Anna!", "Danke, @anna_b!"),
        ("casing", "the council of berlin met.", "Der Rat von Berlin tagte."),
        ("casing", "THE COUNCIL OF BERLIN MET.", "Der Rat von Berlin tagte."),
        ("casing", "The Council Of Berlin Met Again On Monday.", "Der Rat von Berlin tagte."),
        ("casing", "the council of Berlin met.", "Der Rat von Berlin tagte."),
        ("punctuation", "Is he here.", "Ist er da?"),
        ("punctuation", "He is here", "Er ist da."),
        ("punctuation", "他在这里", "He is here."),
        ("characters", "F\ufffdr dich", "For you"),
        ("characters", "FÃ¼r dich", "For you"),
        ("characters", "it doesnâ€™t", "es nicht"),
        ("characters", "Ð\x9fÑ\x80Ð¸Ð²ÐµÑ‚", "Hello"),
        ("characters", "&quot;Yes&quot;", "„Ja“"),
        ("characters", "bell\x07", "Glocke"),
        ("characters", "a <unk> word", "ein Wort"),
        ("doubled", "He saw the the house.", "Er sah das Haus."),
        ("doubled", "one of the of the best", "einer der besten"),
        ("doubled", "He is here here.", "Er ist hier."),
        ("doubled", "This is Berlin Berlin again.", "Das ist wieder Berlin."),
    ],
)
def test_a_fault_is_found(kind, output, source):
    assert flag(kind, output, source, languages=("", "en")) == 1


@pytest.mark.parametrize(
    ("kind", "output", "source"),
    [
        ("empty", "Yes.", "Ja."),
        ("empty", "42", "42"),
        ("empty", "---", "---"),
        ("cut", "The council voted on Tuesday.", "Der Rat stimmte am Dienstag ab."),
        ("cut", "Council votes", "Rat stimmt ab"),
        (
            "cut",
            "市议会星期二投票决定保留旧室内游泳池。",
            "The council voted on Tuesday to keep the pool.",
        ),
        ("length", "Yes.", "Doch!"),
        (
            "length",
            "今天天气很好，我们去公园吧。",
            "The weather is nice today, let us go to the park.",
        ),
        ("loop", "No, no, no!", "Nein!"),
        ("loop", "row, row, row, row your boat", "rudert, rudert, rudert, rudert das Boot"),
        ("loop", "They looked at each other and at the house and at the tree.", "Sie schauten."),
        ("copied", "FC Bayern München", "FC Bayern München"),
        (
            "copied",
            "She saw Juan Carlos Alfonso Borbón there.",
            "Sie sah Juan Carlos Alfonso Borbón.",
        ),
        ("numbers", "It costs 1,000 euros.", "Es kostet 1.000 Euro."),
        ("numbers", "It costs 1000 euros.", "Es kostet 1 000 Euro."),
        ("numbers", "It costs 1,234.50 euros.", "Es kostet 1.234,5 Euro."),
        ("numbers", "It rose by 3.5%.", "Es stieg um 3,5 %."),
        ("numbers", "He has three cats and twelve dogs.", "Er hat 3 Katzen und 12 Hunde."),
        ("numbers", "He is 25.", "Er ist fünfundzwanzig."),
        ("numbers", "The 12-year-old came 1st.", "Der Zwölfjährige wurde Erster, der 1."),
        ("numbers", "At 2:30 pm.", "Um 14.30 Uhr."),
        ("numbers", "On March 7, 2021", "Am 07.03.2021"),
        ("numbers", "in the 1980s", "in den 80er Jahren"),
        ("numbers", "4.2 million", "4.200.000"),
        ("numbers", "150 million people", "1.5亿人"),
        ("numbers", "in 2017 and 12 others", "二〇一七年和十二个"),
        ("numbers", "123 people", "١٢٣ شخصا"),
        ("numbers", "3 1/2 years", "3½ Jahre"),
        ("numbers", "No figure.", "Keine Zahl."),
        ("brackets", "She said, \"He said: 'Yes.'\"", "Sie sagte: „Er sagte: ‚Ja.‘“"),
        ("brackets", "The players' and dogs' rights don't matter, it's '90s stuff.", "Alles egal."),
        ("brackets", "a) first, b) second", "a) erstens, b) zweitens"),
        ("brackets", 'A 5" screen', "Ein 5-Zoll-Bildschirm"),
        ("brackets", '"He goes on.', "„Er redet weiter."),
        ("brackets", "他说：「好」（对）", "He said “well” (yes)"),
        ("markup", "Hello, {name}!", "Hallo, {name}!"),
        ("markup", "It costs 5 dollars", "Es kostet $5"),
        ("markup", "50 % discount", "50 % Rabatt"),
        ("markup", "See http://example.org/.", "Siehe http://example.org"),
        ("markup", "3 < 5 and a > b", "3 < 5 und a > b"),
        ("casing", "iPhone sales rise", "Verkauf von iPhones steigt"),
        ("casing", "300 metres were enough.", "300 Meter reichten."),
        ("casing", "and so on", "und so weiter"),
        ("casing", "NATO", "NATO"),
        ("casing", "said he", "他说"),
        ("punctuation", "“He is here.”", "„Er ist da“."),
        ("punctuation", "他在这里。", "He is here."),
        ("punctuation", "هل هو هنا؟", "Is he here?"),
        ("punctuation", "Council votes.", "Rat stimmt ab"),
        ("characters", "Für Ängström – “naïve” café…", "x"),
        ("characters", "Spaß“ und Größe”", "x"),
        ("characters", "R&D; AT&T", "x"),
        ("characters", "NÃO É Â", "x"),
        ("doubled", "He had had enough; very very good.", "Er hatte genug."),
        ("doubled", "die Frau, die die Katze hat", "the woman who has the cat"),
        ("doubled", "No. No more.", "Nein. Nicht mehr."),
        ("doubled", "In Wagga Wagga", "In Wagga Wagga"),
    ],
)
def test_what_is_right_is_no_fault(kind, output, source):
    assert flag(kind, output, source, languages=("", "")) == 0


@pytest.mark.parametrize("kind", FAULTS)
def test_what_a_reference_does_is_no_fault(kind):
    odd = "the the  FÃ¼r (a 17 no no no no no {x} of"
    assert flag(kind, odd, "Ein anderer Satz, viel länger als dieser hier.", odd) != 1


@pytest.mark.parametrize(
    ("output", "languages", "expected"),
    [
        ("Die Katze sitzt auf der Matte und schläft den ganzen Tag.", GERMAN, 1),
        ("The cat sits on the mat and sleeps all day long.", GERMAN, 0),
        ("Кошка сидит на коврике", GERMAN, 1),
        ("The cat 坐在 the mat.", GERMAN, 1),
        ("Angela Merkel, Emmanuel Macron", GERMAN, 0),
        ("Le chat est assis sur le tapis et dort toute la journée.", GERMAN, 1),
        ("The cat sits on the mat and sleeps all day long.", ("de", "ru"), 1),
        ("Кошка спит на коврике Microsoft Windows.", ("en", "ru"), 0),
        ("猫坐在垫子上睡觉。", ("en", "zh"), 0),
        ("القط ينام على السجادة", ("en", "ar"), 0),
    ],
)
def test_the_wrong_language_and_script_are_seen(output, languages, expected):
    assert flag("language", output, "ein Satz", languages=languages) == expected


def test_without_a_language_the_reference_says_it():
    german, english = "Die Katze sitzt auf der Matte.", "The cat is sitting on the mat."
    assert flag("language", german, "", english) == 1
    assert flag("language", english, "", "A cat sits on some mat over there.") == 0
    assert np.isnan(flag("language", german))


def test_a_name_that_source_and_reference_have_is_written_small():
    assert (
        flag(
            "casing", "He lives in berlin now.", "Er wohnt jetzt in Berlin.", "He lives in Berlin."
        )
        == 1
    )
    assert flag("casing", "The president came.", "Er kam.", "The President came.") == 0
    source = "Nach der Corona-Krise kam die Flut."
    assert flag("casing", "After the corona crisis", source, "After the Corona crisis") == 0


def test_a_fault_that_the_data_cannot_show_is_unknown():
    for kind in ("cut", "length", "copied", "numbers", "markup", "punctuation", "language"):
        assert np.isnan(flag(kind, "some output"))
    for kind in ("empty", "loop", "brackets", "casing", "characters", "doubled", "any"):
        assert flag(kind, "some output") == 0
    assert np.isnan(flag("casing", "今天天气很好。", "The weather is nice."))
    assert np.isnan(flag("doubled", "今天天气很好。", "The weather is nice."))
    assert np.isnan(
        flag("copied", "the cat sat on it", "the cat sat on it", languages=("en", "en"))
    )


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind != "empty"])
def test_of_an_empty_output_only_one_fault_is_told(kind):
    assert np.isnan(flag(kind, "", "Ein Satz.", "A sentence."))
    assert flag("empty", "", "Ein Satz.", "A sentence.") == 1


def test_an_output_may_be_empty_where_the_reference_is():
    assert flag("empty", "", "", "") == 1  # neither says that it may be
    assert flag("empty", "", "♪", "♪") == 0


def test_numbers_are_read_in_many_forms():
    text = "1.000,50 und 1'234'567 und 12,34,567 und 0,5 und 007"
    assert [min(each.values) for each in numbers_in(text).mentions] == [
        "1000", "5", "1234567", "1234567", "5", "7",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", get_args(Kind))
def test_hostile_lines_are_judged(kind):
    long = ["(" * 12_000, "1," * 6000, "a@" * 6000, "<a " * 4000, "ab" * 6000, "的" * 12_000]
    lines = [*HOSTILE.values(), *long]
    turned = [*lines[1:], lines[0]]
    segments = [
        *(Segment(line, (), "") for line in lines),
        *map(Segment, lines, [(line,) for line in turned], turned),
        *(Segment("The end.", (line,), line) for line in lines),
    ]
    flags = Fault(kind, source="de", target="en").flags(segments)
    assert set(flags[~np.isnan(flags)]) <= {0.0, 1.0}


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_is_a_metric(kind):
    fault = Fault(kind, target="en")
    check_metric(fault)
    assert parse(str(fault)) == fault
    assert parse(f"{fault.title}|{fault.signature()}") == fault
    assert parse(f"fault:{kind}") == parse(f"fault:kind={kind}") == Fault(kind)
    assert parse("FAULT:loop").requested == "FAULT:loop"
    assert fault.description


def test_an_unknown_kind_is_an_error():
    with pytest.raises(DataError, match=r"number is not a choice \(did you mean 'numbers'\?\)"):
        parse("fault:number")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_rate_is_faults_by_judged_segments(kind):
    data = read_demo()
    fault = parse(f"fault:{kind}").for_dataset(data)
    segments = [*data.segments("cedar"), Segment("", ("x",), "x"), Segment("东西", (), "")]
    known = [value for value in map(float, fault.flags(segments)) if value == value]
    slow = 100 * sum(known) / len(known)
    assert fault.statistics(segments).corpus() == pytest.approx(slow)
    assert fault.flags(segments).shape == (122,)
    assert fault.rows(segments).shape == (122, 3)


def test_any_fault_is_one_of_the_others():
    data = read_demo()
    some = np.array([
        np.nan_to_num(Fault(kind, "de", "en").flags(data.segments("birch"))) for kind in FAULTS
    ])  # fmt: skip
    whole = Fault("any", "de", "en").flags(data.segments("birch"))
    assert whole.tolist() == some.max(axis=0).tolist()


def test_nothing_that_can_be_judged_has_no_rate():
    statistics = Fault("numbers").statistics([Segment("3", ())] * 2)
    assert np.isnan(statistics.corpus())
    assert np.isnan(statistics.segments()).all()
    assert Fault("numbers").statistics([]).corpus() == 0


def test_faults_stands_for_all_kinds_that_the_data_allow():
    data = read_demo()
    selection = select_metrics(["faults", "chrf"], data)
    assert [metric.requested for metric in selection.metrics] == [
        *(f"fault:{kind}" for kind in FAULTS), "chrf",
    ]  # fmt: skip
    assert selection.metrics[5] == Fault("language", "de", "en")
    without = select_metrics(["faults"], replace(data, sources=()))
    assert "copied" not in {metric.kind for metric in without.metrics}
    assert "faults: copied left out, as there is no source." in without.notes
    neither = replace(data, sources=(), references=((),) * len(data))
    alone = select_metrics(["faults"], neither)
    assert {metric.kind for metric in alone.metrics} == {
        kind for kind, fault in FAULTS.items() if fault.needs == "nothing"
    }


def test_the_fluent_system_of_the_demonstration_loses_numbers():
    data = read_demo()
    result = score(data, ["faults"])
    rates = {(r["system"], r["metric"]): r["score"] for r in result.records()}
    assert rates["birch", "fault:numbers"] > 20
    assert rates["atlas", "fault:numbers"] < 1
    assert rates["cedar", "fault:doubled"] > 5
    assert max(rate for (system, _), rate in rates.items() if system == "atlas") < 1


def test_references_of_the_demonstration_have_hardly_a_fault():
    data = read_demo()
    systems = {name: tuple(demo(f"ref.{name}.txt")) for name in "AB"}
    people = replace(data, systems=systems, references=((),) * len(data), human={})
    for metric in select_metrics(["faults"], people).metrics:
        for statistics in system_statistics(people, metric):
            assert statistics.corpus() <= 2, metric


def test_the_command_line_takes_faults_with_tests_documents_and_segments(capsys):
    files = [str(DEMO / name) for name in ("ref.A.txt", "systems/atlas.txt", "systems/birch.txt")]
    options = ["-s", str(DEMO / "src.txt"), "--docs", str(DEMO / "docs.tsv"), "--documents", "-sl"]
    command = ["score", files[0], "-i", *files[1:], *options, "-m", "faults", "--paired-ar"]
    assert main([*command, "--paired-ar-n", "200", "--confidence", "-f", "json", "-q"]) == 0
    records = json.loads(capsys.readouterr().out)["records"]
    ours = [r for r in records if r["metric"] == "fault:numbers" and r["system"] == "birch"]
    whole = next(r for r in ours if r["document"] is None and r["segment"] is None)
    assert whole["low"] < whole["score"] < whole["high"]
    assert whole["p"] < 0.05
    assert len([r for r in ours if r["segment"]]) == 120
    assert {r["score"] for r in ours if r["segment"]} == {0.0, 100.0}
    assert len([r for r in ours if r["document"]]) == 12


def halved(line):
    words = line.split()
    return " ".join(words[: len(words) // 2])


PLANTED = {
    "empty": lambda line, source: "",
    "cut": lambda line, source: halved(line),
    "length": lambda line, source: line + 3 * (" " + " ".join(sorted(line.split()))),
    "loop": lambda line, source: line + 5 * (" " + " ".join(line.split()[-3:])),
    "copied": lambda line, source: source,
    "language": lambda line, source: source,
    "numbers": lambda line, source: "In 1847, " + line,
    "brackets": lambda line, source: "(" + line,
    "markup": lambda line, source: "<b>" + line,
    "casing": lambda line, source: line.lower(),
    "punctuation": lambda line, source: line.rstrip('."!?”') + ("." if "?" in line else "?"),
    "characters": lambda line, source: line.replace("e", "Ã©", 1),
    "doubled": lambda line, source: line.replace(" ", f" {line.split()[1]} ", 1),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_planted_faults_are_found_and_little_else(kind):
    data = read_demo()
    lines, rng = list(data.systems["atlas"]), random.Random(1)
    places = [at for at, line in enumerate(lines) if len(line.split()) > 6]
    places = rng.sample(places, 30)
    for at in places:
        lines[at] = PLANTED[kind](lines[at], data.sources[at])
    planted = Dataset({"x": tuple(lines)}, ((),) * len(data), data.sources, languages=GERMAN)
    (statistics,) = system_statistics(planted, parse(f"fault:{kind}"))
    found = np.flatnonzero(statistics.segments() == 100).tolist()
    assert len(set(found) & set(places)) >= 27, [lines[at] for at in set(places) - set(found)]
    assert len(set(found) - set(places)) <= 1

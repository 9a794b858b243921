"""Payloads for the page of a report: of the demonstration, and invented ones of any size."""

import hashlib
import random
from html import escape

from assay.demo import read_demo

METRICS = [
    ("bleu", "BLEU", True, 1, "BLEU|tok:13a|smooth:exp"),
    ("chrf", "chrF", True, 1, "chrF2|words:0"),
    ("ter", "TER", False, 1, "TER|norm:no"),
    ("comet", "COMET", True, 4, "wmt22-comet-da"),
]
KINDS = [
    ("text", "Segments by text"),
    ("label", "Documents and labels"),
    ("word", "Words by class"),
    ("fault", "Surface faults"),
]
HOSTILE = [
    "<script>document.title='pwned'</script>",
    "</script><script>document.title='pwned'</script><!-- </style> -->",
    "<img src=x onerror=document.title='pwned'> &lt;i&gt; \"' javascript:alert(1)",
    "NUL \x00, escape \x1b[31m, tab \t, line \u2028 paragraph \u2029, lone \ud800 surrogate",
    "right to left \u202eevil\u202c \u2067isolated\u2069 שלום עולם مرحبا",
    "word " * 2000,
    "x" * 10_000,
    "",
]


def demo_payload():
    """Two of the demonstration's systems, as a first report would have them."""
    dataset = read_demo()
    systems = {name: dataset.systems[name] for name in ("atlas", "birch")}
    return payload(
        systems,
        references=dataset.references,
        sources=dataset.sources,
        documents=dataset.documents,
        title="birch against atlas, German to English",
        verdict=[
            "birch is better than atlas by BLEU (+13.0, 95 % CI 7.4 to 17.7), but worse at names "
            "and numbers.",
            "The loss sits in 41 of 120 segments, most of them in document 7.",
            "chrF and TER agree with BLEU; COMET sees no difference.",
        ],
    )


def synthetic_payload(systems=19, segments=300, metrics=4, words=(8, 30), seed=1, findings=60):
    """Invented systems whose outputs are damaged copies of invented references."""
    rng = random.Random(seed)
    vocabulary = [_word(rng) for _ in range(3000)]
    references = [
        (" ".join(rng.choices(vocabulary, k=rng.randint(*words))).capitalize() + ".",)
        for _ in range(segments)
    ]
    names = [f"{_word(rng).capitalize()}-{number}" for number in range(1, systems + 1)]
    outputs = {
        name: tuple(_damaged(rng, line, vocabulary, 0.05 + 0.02 * at) for (line,) in references)
        for at, name in enumerate(names)
    }
    return payload(
        outputs,
        references=references,
        sources=[line[::-1] for (line,) in references],
        documents=[f"document {number // 20 + 1}" for number in range(segments)],
        title=f"{systems} systems, {segments} segments",
        verdict=[f"{names[0]} is the best of {systems} systems.", "It loses at numbers."],
        metrics=metrics,
        findings=findings,
        seed=seed,
    )


def hostile_payload():
    """Every text is an attempt to break the page."""
    count = len(HOSTILE)
    made = payload(
        {f"a {HOSTILE[0]}": tuple(HOSTILE), f"b {HOSTILE[2]}": tuple(reversed(HOSTILE))},
        references=[(text, HOSTILE[0]) for text in HOSTILE],
        sources=HOSTILE,
        documents=[HOSTILE[1]] * count,
        title=f"hostile {HOSTILE[0]} </title>",
        verdict=HOSTILE[:5],
        findings=6,
    )
    made["segments"]["labels"] = {HOSTILE[2]: [HOSTILE[0]] * count}
    for number, finding in enumerate(made["findings"]):
        finding["title"] = finding["text"] = HOSTILE[number % count]
    for number, part in enumerate(made["slices"]):
        part["name"] = HOSTILE[number % count]
    made["how"] |= {
        "command": HOSTILE[1],
        "notes": HOSTILE[:5],
        "tests": HOSTILE[:5],
        "too_small": HOSTILE[:3],
        "inputs": [{"path": HOSTILE[0], "sha256": HOSTILE[1], "segments": count}],
    }
    return made


def payload(
    outputs,
    *,
    references,
    sources=(),
    documents=(),
    title="",
    verdict=(),
    metrics=4,
    findings=24,
    seed=1,
):
    """A payload with invented scores, slices and findings for these outputs."""
    rng = random.Random(seed)
    systems, count = list(outputs), len(references)
    chosen = METRICS[:metrics]
    scores = {
        metric: {
            system: [_score(rng, higher, digits, at) for _ in range(count)]
            for at, system in enumerate(systems)
        }
        for metric, _, higher, digits, _ in chosen
    }
    parts = _slices(rng, count, documents)
    return {
        "title": title,
        "verdict": list(verdict),
        "systems": systems,
        "baseline": systems[0],
        "metrics": [
            dict(zip(("id", "title", "higher", "digits", "signature"), metric, strict=True))
            for metric in chosen
        ],
        "scoreboard": [
            entry for metric in chosen for entry in _scoreboard(systems, metric, scores[metric[0]])
        ],
        "kinds": [{"id": kind, "title": name} for kind, name in KINDS],
        "findings": _findings(rng, systems, chosen, parts, findings),
        "slices": parts,
        "segments": {
            "sources": list(sources),
            "references": [list(each) for each in references],
            "documents": list(documents),
            "labels": {"domain": [("news", "speech", "web")[at % 3] for at in range(count)]},
            "outputs": {system: list(lines) for system, lines in outputs.items()},
            "scores": scores,
            "faults": {
                system: {
                    "numbers": sorted(rng.sample(range(1, count + 1), count // 10)),
                    "cut off": sorted(rng.sample(range(1, count + 1), count // 20)),
                }
                for system in systems
            },
        },
        "sections": [_words_section(rng, systems, count), _suite_section(rng, systems)],
        "how": {
            "command": "assay report --source src.txt --reference ref.txt --out report.html",
            "seed": 12345,
            "inputs": [
                {
                    "path": f"systems/{system}.txt",
                    "sha256": hashlib.sha256(system.encode(errors="replace")).hexdigest(),
                    "segments": count,
                }
                for system in systems
            ],
            "signatures": [metric[-1] for metric in chosen],
            "versions": {"sacrebleu": "2.5.1", "numpy": "2.1.0"},
            "notes": ["All scores of this page are invented."],
            "tests": ["Paired bootstrap with 1,000 resamples.", "p by Benjamini-Hochberg."],
            "too_small": ["questions (3 segments)", "URLs (1 segment)"],
        },
    }


def _word(rng):
    syllables = range(rng.randint(1, 4))
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in syllables)


def _damaged(rng, line, vocabulary, rate):
    words = [
        rng.choice(vocabulary) if rng.random() < rate else word
        for word in line.split(" ")
        if rng.random() > rate / 3
    ]
    return " ".join(words)


def _score(rng, higher, digits, at):
    if rng.random() < 0.01:
        return None
    value = min(max(rng.gauss(0.6 - 0.01 * at if higher else 0.4 + 0.01 * at, 0.15), 0), 1)
    return value * (1 if digits > 2 else 100)


def _scoreboard(systems, metric, scores):
    name, _, higher, digits, _ = metric
    width = 0.02 if digits > 2 else 2.0
    means = {
        system: sum(filter(None, scores[system])) / max(1, len(scores[system]))
        for system in systems
    }
    order = sorted(systems, key=means.get, reverse=higher)
    for place, system in enumerate(order, 1):
        base = system == systems[0]
        difference = None if base else means[system] - means[systems[0]]
        yield {
            "system": system,
            "metric": name,
            "score": means[system],
            "low": means[system] - width,
            "high": means[system] + width,
            "rank_low": max(1, place - 1),
            "rank_high": min(len(systems), place + 1),
            "cluster": 1 + (place - 1) // 4,
            "difference": difference,
            "difference_low": None if base else difference - 1.5 * width,
            "difference_high": None if base else difference + 1.5 * width,
            "p": None if base else min(1, 0.001 * place**2),
        }


def _slices(rng, count, documents):
    numbers = range(1, count + 1)
    parts = [
        {
            "id": f"text:{name}",
            "kind": "text",
            "name": name,
            "segments": sorted(rng.sample(numbers, max(1, count // share))),
        }
        for name, share in (
            ("segments with numbers", 4),
            ("segments with names", 3),
            ("questions", 10),
            ("long sources (over 40 words)", 8),
            ("segments with quotes", 12),
        )
    ]
    for document in dict.fromkeys(documents):
        held = [number for number in numbers if documents[number - 1] == document]
        parts.append(
            {
                "id": f"label:{document}",
                "kind": "label",
                "name": f"document {document}",
                "segments": held,
            }
        )
    return parts


def _findings(rng, systems, metrics, parts, count):
    made = []
    for number in range(1, count + 1):
        part = parts[(number - 1) % len(parts)]
        other, system = (systems[0], systems[1 + number % (len(systems) - 1)])
        kind = KINDS[(number - 1) % len(KINDS)][0]
        name, title, higher, digits, _ = metrics[number % len(metrics)]
        unit = ""
        if kind == "fault":
            name, title, higher, digits, unit = "rate", "rate", False, 1, "%"
        size = 0.05 if digits > 2 else 12.0
        difference = rng.choice((-1, 1)) * size * (0.97**number) * rng.uniform(0.5, 1)
        width = size * rng.uniform(0.15, 0.5)
        established = abs(difference) > width
        better = (difference > 0) == higher
        carried = rng.sample(part["segments"], len(part["segments"]))
        word = "better" if better else "worse"
        made.append(
            {
                "id": f"f{number}",
                "rank": number,
                "kind": kind,
                "slice": part["id"],
                "title": part["name"][:1].upper() + part["name"][1:],
                "metric": name,
                "unit": unit,
                "higher": higher,
                "digits": digits,
                "system": system,
                "other": other,
                "n": len(carried),
                "value": 2 * size + difference,
                "value_other": 2 * size,
                "difference": difference,
                "low": difference - width,
                "high": difference + width,
                "p": 0.0004 * number,
                "p_adjusted": 0.001 * number,
                "share": None if number % 3 else 0.3 / number,
                "established": established,
                "better": better,
                "text": f"{system} is {word} than {other} at {part['name']} by {title}.",
                "segments": carried,
                "under": f"f{number - 4}" if number % 9 == 0 else None,
                "also": [f"f{number + 4}"] if (number + 4) % 9 == 0 and number + 4 <= count else [],
            }
        )
    return made


def _table(name, title, head, rows):
    """A table as the project's other pages have it; cells are HTML already."""
    heads = "".join(
        f'<th scope="col" class="{"name" if at == 0 else look}" dir="auto">{escape(text)}</th>'
        for at, (text, look) in enumerate(head)
    )
    lines = []
    for first, *others in rows:
        cells = "".join(
            f'<td class="number" data-value="{cell}">{cell:.2f}</td>'
            if isinstance(cell, float)
            else f'<td class="{look}" dir="auto">{cell}</td>'
            for cell, (_, look) in zip(others, head[1:], strict=True)
        )
        lines.append(f'<tr><th scope="row" dir="auto">{first}</th>{cells}</tr>')
    return (
        f'<h3 id="{name}-title">{escape(title)}</h3>'
        f'<div class="card scroll" tabindex="0" role="region" aria-labelledby="{name}-title">'
        f"<table><caption>{escape(title)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _words_section(rng, systems, count):
    head = [("word", "name"), ("log-odds", "number"), ("system", "text"), ("segments", "text")]
    rows = []
    for _ in range(12):
        links = " ".join(
            f'<a href="#segment-{number}">{number}</a>'
            for number in sorted(rng.sample(range(1, count + 1), min(4, count)))
        )
        system = escape(rng.choice(systems).encode(errors="replace").decode()).replace("\x00", "")
        rows.append((_word(rng), rng.uniform(-4, 4), system, links))
    table = _table("words", "Words that one system gets right", head, rows)
    return {"id": "words", "title": "Words", "html": table}


def _suite_section(rng, systems):
    head = [("phenomenon", "name")] + [
        (system.encode(errors="replace").decode(), "number") for system in systems
    ]
    rows = [
        (name, *(rng.uniform(40, 100) for _ in systems))
        for name in ("Ambiguity", "Coordination", "Negation", "Tense", "Verb valency")
    ]
    return {"id": "suite", "title": "Test suite", "html": _table("suite", "Accuracy", head, rows)}

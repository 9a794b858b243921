"""What a text is in: its language, and the words that it is cut into."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

from assay.data import DataError, Dataset, MissingInput, Segment, Segments
from assay.extras import missing
from assay.registry import did_you_mean

__all__ = [
    "NATIVE",
    "TOKENIZERS",
    "Language",
    "Pair",
    "Prepared",
    "PreparedLists",
    "Side",
    "check_repetitions",
    "check_text",
    "check_tokenizer",
    "identify",
    "language_by_script",
    "language_notes",
    "language_of",
    "named_languages",
    "plain_code",
    "prepare",
    "prepare_lists",
    "rank_languages",
    "rewrite",
    "tokenize",
]

Side: TypeAlias = Literal["source", "target"]
Pair: TypeAlias = tuple[str, str]
"""Source and target language, each empty where it is not known."""

_NEITHER: Pair = ("", "")

SAMPLE = 50
"""Lines that are looked at, spread over the text."""

SURE = 0.7
"""Below this probability no language is named."""

LITTLE = 200
"""Letters; a text of fewer, in which no language can be told, is taken for English."""

FOLDERS = 3
"""Folders above a file whose names are looked at."""

_FOLDED = {"wuu": "zh", "pcm": "en"}
"""Languages that short Chinese and English texts are taken for now and then."""

_NO_LANGUAGE = "zxx"

_SHORT = """
af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu ha he hi hr hu hy id ig is
it iu ja ka kk km kn ko ky lb lo lt lv mk ml mn mr ms mt my nb ne nl nn no pa pl ps pt ro ru rw si
sk sl sq sr sv sw ta te th tl tr uk ur uz vi xh yo zh zu
"""
_CODES = frozenset(_SHORT.split())
"""The codes that are read in names of files."""

_SAME = """
ara:ar arb:ar bul:bg cat:ca ces:cs cmn:zh cze:cs dan:da deu:de dut:nl ell:el eng:en est:et fas:fa
fin:fi fra:fr fre:fr ger:de gre:el guj:gu hau:ha heb:he hin:hi hrv:hr hun:hu ice:is ind:id isl:is
ita:it jpn:ja kaz:kk khm:km kor:ko lav:lv lit:lt lvs:lv nld:nl nno:nn nob:nb nor:no per:fa pes:fa
pol:pl por:pt pus:ps ron:ro rum:ro rus:ru slk:sk slo:sk slv:sl spa:es srp:sr swe:sv tam:ta tha:th
tur:tr ukr:uk vie:vi xho:xh zho:zh zul:zu
"""
_LONG: dict[str, str] = dict(each.split(":") for each in _SAME.split())
"""Codes of three letters, as FLORES has them."""

_CODE = r"[a-z]{2,3}(?:_[A-Z][A-Za-z]{1,3})?"
_PAIR = re.compile(rf"(?<![A-Za-z0-9])({_CODE})[-2]({_CODE})(?![A-Za-z0-9])")
_WMT = re.compile(r"(?<=\d[-._])([a-z]{2})([a-z]{2})(?=[-._](?:src|ref)(?![a-z]))")
_FLORES = re.compile(r"(?<![A-Za-z])([a-z]{3})_[A-Z][a-z]{3}(?![A-Za-z])")
_LAST = re.compile(
    rf"(?:(?:^|\.)|(?:^|[-._])(?:ref|reference|src|source|tgt|target|test|dev)[-_])({_CODE})$"
)
_ENDINGS = re.compile(r"(?:\.(?:txt|gz|xz|sgm|sgml|xml|tsv|jsonl|snt|tok|detok))+$")

_KANA, _HANGUL = re.compile("[\u3040-\u30ff]"), re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


class Language(NamedTuple):
    """A language, empty where it is not known, and how it is known."""

    code: str
    how: Literal["told", "names", "text", "assumed"]

    @property
    def reason(self) -> str:
        """How it is known, in words; nothing where somebody said it."""
        return _REASONS[self.how]

    def __str__(self) -> str:
        reason = f" ({self.reason}; languages= says otherwise)" if self.reason else ""
        return f"{self.code!r}{reason}"

    def known(self, what: object) -> str:
        """The code; a `DataError` where there is none, with what it is needed for."""
        if not self.code:
            raise MissingInput(
                "languages",
                f"{what} depends on the language, which cannot be told from these texts",
            )
        return self.code


_REASONS = {
    "told": "",
    "names": "from the names of files",
    "text": "from the text",
    "assumed": "assumed, as there is too little text to tell",
}


def language_of(dataset: Dataset, side: Side) -> Language:
    """The language of the sources, or of references and outputs.

    It is the one that the dataset has; or else that in the names of its files, in so far as they
    agree; or else the one that the text is in: that of the references, or of the outputs where
    there are none. The code is empty where the text does not tell. English is assumed where there
    is too little of it.
    """
    at = 0 if side == "source" else 1
    if dataset.languages and dataset.languages[at]:
        return Language(plain_code(dataset.languages[at]), "told")
    if dataset.named_languages[at]:
        return Language(dataset.named_languages[at], "names")
    lines = _sample(_lines(dataset, side))
    if found := identify(lines):
        return Language(found, "text")
    letters = sum(map(str.isalpha, chain(*lines)))
    return Language("en", "assumed") if letters < LITTLE else Language("", "text")


def language_notes(dataset: Dataset, sides: Sequence[Side]) -> list[str]:
    """Which language these sides were taken to be in, and why, where nobody said so."""
    there = [side for side in sides if side == "target" or dataset.sources]
    languages = [(side, language_of(dataset, side)) for side in there]
    return [
        f"{side} language {language.code}, {language.reason}"
        for side, language in languages
        if language.reason
    ]


def identify(lines: Sequence[str]) -> str:
    """The language that the lines are in, by a sample of them; empty where that is not sure.

    >>> identify(["Die Katze sitzt auf der Matte."])
    'de'
    """
    return _identified("\n".join(_sample(lines)))


def check_text(lines: Sequence[str], code: str, what: str, remedy: str) -> None:
    """Raise a `DataError` where the lines are seen to be in another language than this one."""
    found = identify(lines)
    if found and found != code:
        raise DataError(f"{what}: the texts are in {Language(found, 'text')}. {remedy}.")


def plain_code(language: str) -> str:
    """A language without its country or script, in two letters where it has two.

    >>> plain_code("pt_BR"), plain_code("zh-tw"), plain_code("deu_Latn")
    ('pt', 'zh', 'de')
    """
    code = re.split("[-_]", language.lower())[0]
    return _LONG.get(code, code)


def named_languages(
    references: Iterable[str] = (), systems: Iterable[str] = (), source: str | None = None
) -> Pair:
    """The languages that the paths of files name, each empty where none does or they differ.

    >>> named_languages(["data/ref.de.txt"]), named_languages(["wmt21/de-en/ref.txt"])
    (('', 'de'), ('de', 'en'))
    >>> named_languages(["newstest2020-ende-ref.de.sgm"], ["newstest2020.en-de.online-A"])
    ('en', 'de')
    """
    found = [_in_path(path, "target") for path in chain(references, systems)]
    found += [_in_path(source, "source")] if source is not None else []
    sides = [{pair[at] for pair in found if pair[at]} for at in (0, 1)]
    first, second = (each.pop() if len(each) == 1 else "" for each in sides)
    return first, second


def language_by_script(lines: Sequence[str]) -> str:
    """Chinese, Japanese or Korean (zh, ja, ko) by the letters of the text, without a model.

    >>> language_by_script(["我们去了北京。"]), language_by_script(["We went to 北京."])
    ('zh', '')
    """
    letters = "".join(filter(str.isalpha, "".join(_sample(lines))))
    kana, hangul, han = (len(each.findall(letters)) for each in (_KANA, _HANGUL, _HAN))
    if 2 * (kana + hangul + han) <= len(letters):
        return ""
    return max((hangul, "ko"), (10 * kana, "ja"), (han, "zh"))[1]


def _lines(dataset: Dataset, side: Side) -> Sequence[str]:
    if side == "source":
        return dataset.sources
    references = [each[0] for each in dataset.references if each]
    return references or list(chain(*dataset.systems.values()))


def _sample(lines: Sequence[str]) -> list[str]:
    """Lines with text, spread evenly: always the same ones."""
    full = [line for line in lines if line.strip()]
    step = max(1, len(full) // SAMPLE)
    return full[::step][:SAMPLE]


def rank_languages(text: str) -> dict[str, float]:
    """The probability of every language, where the text is in one of them."""
    shares: dict[str, float] = {}
    for code, share in _identifier().rank(text):
        code = _FOLDED.get(code, code)
        shares[code] = shares.get(code, 0.0) + float(share)
    return shares


@lru_cache(maxsize=256)
def _identified(text: str) -> str:
    if not text:
        return ""
    shares = rank_languages(text)
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= SURE and best != _NO_LANGUAGE else ""


@lru_cache(maxsize=1)
def _identifier() -> Any:
    """Loading it takes most of a second, so that only what needs a language does."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _in_path(path: str, side: Side) -> Pair:
    """What a file's own name says, and its nearest folder that names a pair."""
    pure = PurePath(path)
    folders = (_pair(each.name, _PAIR) for each in list(pure.parents)[:FOLDERS])
    above = next(filter(any, folders), _NEITHER)
    return _merged(_in_name(_ENDINGS.sub("", pure.name), side), above)


def _in_name(name: str, side: Side) -> Pair:
    pair = next(filter(any, (_pair(name, each) for each in (_PAIR, _WMT))), _NEITHER)
    match = _LAST.search(name) or _FLORES.search(name)
    code = plain_code(match[1]) if match else ""
    if code not in _CODES:
        return pair
    return _merged(pair, (code, "") if side == "source" else ("", code))


def _pair(name: str, pattern: re.Pattern[str]) -> Pair:
    for match in pattern.finditer(name):
        first, second = plain_code(match[1]), plain_code(match[2])
        if first != second and {first, second} <= _CODES:
            return first, second
    return _NEITHER


def _merged(one: Pair, other: Pair) -> Pair:
    """Both together; neither where they contradict each other."""
    if any(a and b and a != b for a, b in zip(one, other, strict=True)):
        return _NEITHER
    return one[0] or other[0], one[1] or other[1]


NATIVE = ("13a", "intl", "char", "none")
"""Tokenizers of the kernel; all others are sacreBLEU's own."""

TOKENIZERS = (
    *NATIVE,
    *("zh", "ja-mecab", "ko-mecab", "spm", "flores101", "flores200", "spBLEU-1K"),
)


class Prepared(NamedTuple):
    """Segments ready for the kernel, and the native tokenizer that finishes the work."""

    segments: Sequence[Segment]
    tokenizer: str
    classes: bytes


def check_tokenizer(name: str) -> None:
    """Raise a `DataError` that suggests the nearest name if there is no such tokenizer."""
    if name not in TOKENIZERS:
        raise DataError(
            f"unknown tokenizer {name!r}{did_you_mean(name, TOKENIZERS)}. "
            f"Tokenizers: {', '.join(TOKENIZERS)}."
        )


def prepare(segments: Sequence[Segment], tokenizer: str, *, lowercase: bool = False) -> Prepared:
    """Lowercase if asked, and leave to the kernel what it does natively."""
    change = _change(tokenizer, lowercase)
    return Prepared(rewrite(segments, change) if change else segments, *_native(tokenizer))


class PreparedLists(NamedTuple):
    """The same for lists of texts of each segment."""

    hypotheses: Sequence[Sequence[str]]
    references: Sequence[Sequence[str]]
    tokenizer: str
    classes: bytes


def prepare_lists(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    tokenizer: str,
    *,
    lowercase: bool = False,
) -> PreparedLists:
    """As `prepare`, for all texts of each segment; each text is changed once."""
    change = _change(tokenizer, lowercase)
    if change:
        once = lru_cache(maxsize=None)(change)
        hypotheses = [list(map(once, texts)) for texts in hypotheses]
        references = [list(map(once, texts)) for texts in references]
    return PreparedLists(hypotheses, references, *_native(tokenizer))


def _change(tokenizer: str, lowercase: bool) -> Callable[[str], str] | None:
    """What is done to a line before the kernel sees it."""
    if tokenizer in NATIVE:
        return str.lower if lowercase else None
    split = _sacrebleu_tokenizer(tokenizer)
    return (lambda line: split(line.lower())) if lowercase else split


def _native(tokenizer: str) -> tuple[str, bytes]:
    """The kernel's tokenizer that finishes the work, and its table."""
    classes = _character_classes() if tokenizer == "intl" else b""
    return (tokenizer if tokenizer in NATIVE else "none"), classes


def rewrite(segments: Sequence[Segment], change: Callable[[str], str]) -> Sequence[Segment]:
    """The same segments with hypotheses and references changed; each text is changed once.

    Segments that shared a tuple of references still share one.
    """
    texts: dict[str, str] = {}
    tuples: dict[int, tuple[str, ...]] = {}

    def changed(line: str) -> str:
        found = texts.get(line)
        if found is None:
            found = texts[line] = change(line)
        return found

    def shared(references: tuple[str, ...]) -> tuple[str, ...]:
        found = tuples.get(id(references))
        if found is None:
            found = tuples[id(references)] = tuple(map(changed, references))
        return found

    if isinstance(segments, Segments):
        return Segments(
            tuple(tuple(map(changed, lines)) for lines in segments.hypotheses),
            tuple(map(shared, segments.references)),
            segments.sources,
        )
    return [
        Segment(changed(hypothesis), shared(references), source)
        for hypothesis, references, source in segments
    ]


def tokenize(lines: Sequence[str], tokenizer: str = "13a") -> list[list[str]]:
    """The tokens of every line, as sacreBLEU's tokenizer of that name gives them.

    >>> tokenize(["Hello, world."])
    [['Hello', ',', 'world', '.']]
    """
    from assay import kernel

    check_tokenizer(tokenizer)
    if tokenizer not in NATIVE:
        split = _sacrebleu_tokenizer(tokenizer)
        return [split(line).split() for line in lines]
    classes = _character_classes() if tokenizer == "intl" else b""
    return kernel.tokenize(lines, tokenizer, classes)


@lru_cache
def _sacrebleu_tokenizer(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import _get_tokenizer

    extra = {"ja-mecab": "ja", "ko-mecab": "ko"}.get(name, "spm")
    try:
        split = _get_tokenizer(name)()
    except (ImportError, RuntimeError) as error:
        raise missing(extra, f"tokenizer {name!r} needs more packages", f" ({error})") from None
    except OSError as error:
        raise DataError(f"tokenizer {name!r} could not load its model: {error}") from None
    return lambda line: split(line.rstrip())


@lru_cache
def _character_classes() -> bytes:
    """One byte per code point: 1 punctuation, 2 number, 4 symbol.

    Asked of the very module that sacreBLEU's `intl` uses, so both know the same Unicode.
    """
    import regex

    everything = "".join(map(chr, range(0x110000)))
    table = bytearray(len(everything))
    for value, name in ((1, "P"), (2, "N"), (4, "S")):
        for match in regex.finditer(rf"\p{{{name}}}+", everything):
            table[match.start() : match.end()] = bytes([value]) * (match.end() - match.start())
    return bytes(table)


MOST_REPETITIONS = 100_000
LONGEST_EXPANSION = 300_000
# Possessive, so that a long row of blanks is read once.
_COUNTS = re.compile(r"(.?)\{\s*+([0-9]*+)\s*+,?\s*+([0-9]*+)\s*+\}", re.DOTALL)


def check_repetitions(pattern: str) -> None:
    """Raise a `ValueError` where a regular expression repeats something too often.

    To compile `a{2000000000}` takes gigabytes, and so does `(?:a{1000}){10000}`: what stands
    before a count is written out that often.

    >>> check_repetitions("a{2,30}")
    >>> check_repetitions("a{2000000000}")
    Traceback (most recent call last):
    ValueError: more than 100000 repetitions
    """
    length, times = len(pattern), 1
    for before, least, most in _COUNTS.findall(pattern):
        if any(len(count) > 12 or int(count or 0) > MOST_REPETITIONS for count in (least, most)):
            raise ValueError(f"more than {MOST_REPETITIONS} repetitions")
        # Only groups hold other counts. Where blanks mean nothing, one may stand behind a group.
        if before == ")" or before.isspace():
            times *= max(1, int(least or 0))
        else:
            length += int(least or 0)
    if length * times > LONGEST_EXPANSION:
        raise ValueError("too many repetitions in one another")

"""Detectors of surface faults in how a text is written: marks, markup, case, broken characters.

They take and return what those of `fault_detectors` do.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from assay.metrics.fault_detectors import INK, KEPT, Found, is_dense, originals_of, words_of

__all__ = ["brackets", "casing", "characters", "markup"]

NOTHING: frozenset[str] = frozenset()

_PAIRS = ("()", "[]", "{}", "（）", "【】", "《》", "「」", "『』", "〈〉", "［］")
_BRACKET = re.compile("[" + re.escape("".join(_PAIRS)) + "]")
_CLOSES = {pair[1]: pair[0] for pair in _PAIRS} | {"）": "(", "（": "("}
_ENUMERATION = re.compile(r"(?:^|(?<=\s))(?:[a-zA-Zа-я]|\d{1,3}|[ivx]{1,4})[)）]|[:;=8]['-]?[()]+")
_DOUBLE_QUOTE = re.compile("[\"“”„«»‟〝〞〟＂]|''|``|,,")
_QUOTE = re.compile("[\"“”„«»‟〝〞〟＂'‘’‚‹›]")
_PAIRED = re.compile("[\"'‘’‚‹›“”„«»‟〝〞〟＂`,]|" + _BRACKET.pattern)
_INCHES = re.compile(r"(?<=\d)(?:\"|''|”)|(?<=s)\"(?= [a-z])")
_OPEN_QUOTE = re.compile(
    r"(?:^|(?<=[\s(\[\"“„«]))['‘‚‹](?=[^\W\d_])(?!(?:n|s|t|tis|twas|em|cause|til)\b)"
)
_CLOSE_QUOTE = re.compile(r"(?<=[^\s(\[])['’‘›](?!\w)")


def brackets(output: str, source: str, references: tuple[str, ...]) -> Found:
    """Quotes or brackets do not come in pairs, while those of source and references do.

    Where a quotation goes on in the next segment, it is a fault to have no mark of it.
    """
    own = _unpaired(output)
    originals = originals_of(source, references)
    if not own:
        return bool(originals) and all("quotes" in _unpaired(text) for text in originals)
    if "brackets" not in own and _goes_on(output) and not any(map(_QUOTE.search, originals)):
        return False
    return all(not _excused(own, _unpaired(text)) for text in originals)


def _goes_on(text: str) -> bool:
    """Whether a quotation may go on beyond the segment: it begins or ends with a quote."""
    return bool(_QUOTE.match(text.strip()) or _QUOTE.match(text.rstrip(" .,;!?")[-1:]))


def _excused(own: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the other has the same; quotes may be single in one and double in the other."""
    quoted = bool(other & {"quotes", "single quotes"})
    return all(kind in other or (quoted and kind != "brackets") for kind in own)


@lru_cache(maxsize=KEPT)
def _unpaired(text: str) -> frozenset[str]:
    """What does not come in pairs: brackets, double quotes, single quotes."""
    if not _PAIRED.search(text):
        return NOTHING
    found = []
    if not _is_nested(text) and not _is_nested(_ENUMERATION.sub("", text)):
        found.append("brackets")
    if not _even_quotes(text) and not _even_quotes(_INCHES.sub("", text)):
        found.append("quotes")
    if len(_OPEN_QUOTE.findall(text)) > len(_CLOSE_QUOTE.findall(text)):
        found.append("single quotes")
    return frozenset(found) if found else NOTHING


def _even_quotes(text: str) -> bool:
    marks = _DOUBLE_QUOTE.findall(text)
    angles = sum(mark in "«»" for mark in marks)
    return len(marks) % 2 == 0 and angles % 2 == 0


def _is_nested(text: str) -> bool:
    waiting: list[str] = []
    for mark in _BRACKET.findall(text):
        mark = {"（": "("}.get(mark, mark)
        if mark not in _CLOSES:
            waiting.append(mark)
        elif not waiting or waiting.pop() != _CLOSES[mark]:
            return False
    return not waiting


_TAG = r"</?[A-Za-z][\w:-]{0,30}(?:\s[^<>]{0,300})?/?>"
_ADDRESS = (
    r"(?:https?|ftp)://[^\s<>\"“”()（）。，]+|\bwww\.[^\s<>\"“”()（）。，]+"
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|(?<![\w.])(?:[a-z0-9-]{1,40}\.){1,4}(?:com|org|net|info|io|gov|edu)\b(?:/[^\s<>\"“”()。，]*)?"
)
_MARKUP = re.compile(
    rf"{_TAG}|{_ADDRESS}"
    r"|\$?\{\{?[\w.:$ -]{0,40}\}?\}|%\([\w.]{1,40}\)[sdifr]"
    r"|(?<![\w%])(?<!\d )%(?:\d\$)?[sdifu@](?![^\W_])"
    r"|(?<![\w$])\$\d{1,2}(?![\d.,]|\w)|(?<![\w.])@\w{2,40}|\b__\w{1,40}?__\b|\[\[[^\[\]]{1,60}\]\]",
    re.ASCII | re.IGNORECASE,
)
_MARK = re.compile(r"[<@{%$_]|\[\[|www\.|://|\.(?:com|org|net|info|io|gov|edu)", re.IGNORECASE)


def markup(output: str, source: str, references: tuple[str, ...]) -> Found:
    """A placeholder, tag, user name or address of the original is lost, damaged or made up."""
    originals = originals_of(source, references) or [text for text in (source, *references) if text]
    if not originals:
        return None
    own, wanted = _marked(output), _marked(originals[0])
    if own == wanted:
        return False
    lost = [mark for mark in wanted - own if not _is_price(mark, output)]
    if any(all(_marked(text)[mark] for text in originals[1:]) for mark in lost):
        return True
    new = [mark for mark in own - wanted if mark[0] != "$" and not mark[-1:].isalnum()]
    return any(not any(_marked(text)[mark] for text in originals[1:]) for mark in new)


_NO_MARKS: Counter[str] = Counter()


@lru_cache(maxsize=KEPT)
def _marked(text: str) -> Counter[str]:
    """What is to be taken over as it is, with how often it comes."""
    if not _MARK.search(text):
        return _NO_MARKS
    return Counter(map(_normal, _MARKUP.findall(text)))


def _normal(mark: str) -> str:
    """Blanks within, and the stop behind an address, do not count."""
    if mark[0] in "<{%$_[":
        return (
            "".join(mark.split()) if mark[0] != "<" else " ".join(mark.split()).replace(" />", "/>")
        )
    return mark.rstrip(".,;:!?'’/").lower()


def _is_price(mark: str, output: str) -> bool:
    """Whether $5 was no placeholder but money, which other languages write in their own way."""
    return mark[0] == "$" and mark[1:].isdigit() and mark[1:] in output


_CASED = re.compile(r"[A-ZÀ-ÖØ-ÞŁŚŻŠŽČŘĐĞİŐŰА-ЯЁЇІЄҐΑ-Ω]")
_TITLED = 0.9


def casing(output: str, source: str, references: tuple[str, ...]) -> Found:
    """All small, all capital or every word capital; a small start; names written small."""
    if output.lower() == output.upper() or is_dense(output):
        return None
    originals = [text for text in originals_of(source, references) if text.lower() != text.upper()]
    style = _style(output)
    if style and (not originals or all(_style(text) != style for text in originals)):
        return len(words_of(output)) > 3 or bool(originals)
    small = _starts_small(output) and not any(map(_starts_small, originals))
    if small and any(_starts_large(text) for text in originals):
        return True
    return bool(references) and _small_names(output, source, references)


@lru_cache(maxsize=KEPT)
def _style(text: str) -> str:
    """`lower`, `upper` or `title` where the whole text is so; empty for usual text."""
    if text.islower():
        # "300 metres were enough" is as it should be.
        return "lower" if len(words_of(text)) > 2 and _starts_small(text) else ""
    words = [word for word in words_of(text) if len(word) > 1]
    if len(words) > 2 and text.isupper():
        return "upper"
    if len(words) > 5 and sum(word[0].isupper() for word in words) >= _TITLED * len(words):
        return "title"
    return ""


@lru_cache(maxsize=KEPT)
def _starts_small(text: str) -> bool:
    """Whether the first word is small; iPhone, addresses and what follows a mark may be."""
    text = text.lstrip(" \t\u00a0\"'`‘’“”„«»‹›¿¡([")
    if not text[:1].islower():
        return False
    word = text.split(maxsplit=1)[0]
    return word.rstrip(".,:;!?'’\"”").isalpha() and not _CASED.search(word)


def _starts_large(text: str) -> bool:
    first = INK.search(text)
    return first is not None and first[0].isupper()


def _small_names(output: str, source: str, references: tuple[str, ...]) -> bool:
    """Words that every reference has with a capital only, and the output small only.

    One is enough where the source has it, too, as a name; else two, if nothing else is capital;
    else three, if these are most of them.
    """
    small = {word for word in words_of(output) if word.islower() and len(word) > 2}
    wanted = [_capitals(text) for text in references]
    large = frozenset.intersection(*wanted) if wanted else frozenset()
    written = {word for word in words_of(output) if not word.islower()}
    wrong = {word for word in large if word.lower() in small and word not in written}
    if not wrong:
        return False
    if wrong & _capitals(source) and not _has_large_nouns(source):
        return True
    if len(wrong) > 2 and len(wrong) > len(large & written):
        return True
    others = any(not word.islower() and word != "I" for word in words_of(output)[1:])
    return len(wrong) > 1 and not others and not any(map(_has_large_nouns, references))


@lru_cache(maxsize=KEPT)
def _capitals(text: str) -> frozenset[str]:
    """Words within a text that have a capital first letter and never a small one."""
    words = words_of(text)
    if _style(text):
        return frozenset()
    capitals = {word for word in words[1:] if word[0].isupper() and len(word) > 2}
    return frozenset(capitals - {word.capitalize() for word in words if word.islower()})


@lru_cache(maxsize=KEPT)
def _has_large_nouns(text: str) -> bool:
    """Whether so many words have a capital that nouns must have one, as in German."""
    words = words_of(text)[1:]
    return 4 * sum(word[0].isupper() for word in words) > len(words)


_CP1252 = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_MOJIBAKE = re.compile(
    rf"[ÂÃ][\x80-\xbf{_CP1252}]|â€|(?:[Ð-Ñ][\x80-\xbf{_CP1252}]){{2}}"
    rf"|(?:[Ä-ÅÎ-ÏØ-Û][\x80-\xbf{_CP1252}]){{2}}|(?:[à-ï][\x80-\xbf{_CP1252}]{{2}}){{2}}"
)
_BROKEN = {
    "replacement character": re.compile("\ufffd"),
    "mojibake": _MOJIBAKE,
    "entity": re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});"),
    "control": re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]"),
    "escape": re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[nt](?![a-z])"),
    "unknown word": re.compile(r"<unk>|⁇|\bUNK\b|@@ |▁|@-@"),
    "question marks": re.compile(r"[^\W\d_]\?[^\W\d_]|\?{4,}"),
}
_ODD = re.compile(r"[^\x09\x0a\x20-\x7e]|[&\\?@]|unk", re.IGNORECASE)


def characters(output: str, source: str, references: tuple[str, ...]) -> Found:
    """Broken characters, entities or leftovers of a tokenizer that the originals do not have."""
    broken = _broken(output)
    if not broken:
        return False
    return bool(broken.difference(*map(_broken, (source, *references))))


@lru_cache(maxsize=KEPT)
def _broken(text: str) -> frozenset[str]:
    if not _ODD.search(text):
        return NOTHING
    return frozenset(kind for kind, pattern in _BROKEN.items() if pattern.search(text))

"""The kinds of features, and the names that are known before any text is seen."""

from __future__ import annotations

__all__ = ["ENTITIES", "KINDS", "MORPH", "PART", "UPOS"]

KINDS = {
    "upos": "universal parts of speech: upos:NOUN,VERB",
    "tag": "the tagger's own parts of speech: tag:NNS",
    "tags": "the tags of a file given beside the text: tags:NN",
    "ner": "names of people, places, dates ...: ner:PERSON,GPE",
    "morph": "features of words: morph:Gender, or one value, morph:Gender=Fem",
    "dep": "relations to the head: dep:nsubj",
    "gender": "English pronouns for people: gender, or gender:Masc,Fem,Neut",
    "list": "words of your own: list:FILE, one word<TAB>label per line",
    "regex": "regular expressions of your own: regex:FILE, one label<TAB>expression per line",
}

UPOS = (
    *("NOUN", "VERB", "PUNCT", "PROPN", "INTJ", "NUM", "PRON", "SYM"),
    *("SCONJ", "ADJ", "ADP", "ADV", "AUX", "X", "CCONJ", "DET"),
)
"""The 16 tags of the paper's Table 9, in its order.

X (what fits nowhere else: foreign words, fragments) is among them; of the 17 universal tags
only `PART` is not.
"""

PART = "PART"
"""Particles (*not*, *to*, *'s*): the universal tag that Table 9 leaves out."""

ENTITIES = {
    "TIME": "times of less than a day",
    "WORK_OF_ART": "titles of books, songs ...",
    "PERSON": "people, also invented ones",
    "NORP": "nationalities, religious and political groups",
    "CARDINAL": "numbers that are of no other type",
    "MONEY": "sums of money, with their unit",
    "EVENT": "named storms, battles, wars, games ...",
    "ORDINAL": "first, second ...",
    "DATE": "dates and periods of a day or more",
    "FAC": "buildings, airports, roads, bridges ...",
    "ORG": "companies, agencies, institutions ...",
    "LAW": "named documents made into laws",
    "PRODUCT": "things, vehicles, food ... (not services)",
    "PERCENT": "percentages, with their sign",
    "QUANTITY": "measurements of weight, distance ...",
    "LANGUAGE": "named languages",
    "GPE": "countries, cities, states",
    "LOC": "other places: mountains, waters, regions",
}
"""The 18 entity types of OntoNotes, in the order of the paper's Table 9, and what they are."""

MORPH = (
    *("Abbr", "Animacy", "Aspect", "Case", "Clusivity", "Definite", "Degree", "Deixis"),
    *("DeixisRef", "Evident", "ExtPos", "Foreign", "Gender", "Mood", "NounClass", "NumForm"),
    *("NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex"),
    *("Tense", "Typo", "VerbForm", "VerbType", "Voice"),
)
"""Features of Universal Dependencies that can be asked for by their bare name."""

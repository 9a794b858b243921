"""The task-based metrics once more, slowly: lists, loops, and spaCy's own words."""


def words(doc):
    return [token for token in doc if not token.is_space]


def names(doc, types=None):
    """Type and words of every name, without the article that begins it."""
    found = []
    for entity in doc.ents:
        tokens = [token.text for token in entity if not token.is_space]
        if len(tokens) > 1 and tokens[0].lower() == "the":
            tokens = tokens[1:]
        if types is None or entity.label_ in types:
            found.append((entity.label_, tuple(tokens)))
    return found


def relations(doc, types=None):
    """Label and word of every relation."""
    found = []
    for token in words(doc):
        label = token.dep_.lower()
        counts = label in types if types else label not in ("punct", "root", "dep")
        if counts:
            found.append((label, token.text.lower()))
    return found


def shared(given, wanted):
    """What both lists have, each as often as both have it."""
    left, both = list(wanted), []
    for each in given:
        if each in left:
            left.remove(each)
            both.append(each)
    return both


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def measures(given, wanted, both):
    """F1, precision and recall of sums of weights; nothing to get wrong is all right."""
    return {
        "f1": percent(2 * both, given + wanted),
        "precision": percent(both, given),
        "recall": percent(both, wanted),
    }


def closest(given, wanted, weigh=len):
    """The sums of an output beside the reference with the best F1; more matches decide ties."""
    sums = [(weigh(given), weigh(each), weigh(shared(given, each))) for each in wanted]
    return max(sums, key=lambda each: (round(measures(*each)["f1"], 9), each[2]))


def total(sums):
    return tuple(sum(column) for column in zip(*sums, strict=True))

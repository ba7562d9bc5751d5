"""Finds the class of a taxonomy by its label."""

from knowledge_manager.feeds.item import ClassOf
from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Iri


def class_by_label(taxonomy: Taxonomy) -> ClassOf:
    """Return a function that finds the class with a label, ignoring case and language; labels of several
    classes are skipped.
    """
    found: dict[str, set[str]] = {}
    for one, labels in taxonomy.labels.items():
        if one in taxonomy:
            for label in labels:
                found.setdefault(label.text.casefold(), set()).add(one)
    only = {text: Iri(next(iter(classes))) for text, classes in found.items() if len(classes) == 1}
    return lambda text: only.get(text.strip().casefold())

"""What the schema finds, in words for people: no namespaces in braces, a column, and a did-you-mean."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from knowledge_manager.documents import Problem, did_you_mean, listed, nearest
from plugins.fuzzy.compiler.schema import schema_attributes

if TYPE_CHECKING:
    from lxml import etree

    from plugins.fuzzy.compiler.document import SubscriptionDocument

_IN_BRACES = re.compile(r"\{([^{}]*)\}(?=[A-Za-z_#*])")
_SUBJECT = re.compile(
    r"^Element '(?P<element>[^']*)'(?:, attribute '(?P<attribute>[^']*)')?: (?P<rest>.*)$", re.S
)
_NOT_ALLOWED = re.compile(r"The attribute '([^']*)' is not allowed")
_REQUIRED = re.compile(r"The attribute '([^']*)' is required")
_EXPECTED = re.compile(r"Expected is (?:one of )?\( ?(.*?) ?\)\.")
_NOT_IN_SET = re.compile(r"The value '(.*)' is not an element of the set \{(.*)\}", re.S)
_BAD_VALUE = re.compile(r"(?:The value )?'(.*)' is not (?:a valid value|accepted)", re.S)
_TOO_LONG = 60


def schema_problems(schema: "etree.XMLSchema", document: "SubscriptionDocument") -> Iterator[Problem]:
    """Yield one problem for each thing that the schema objects to, once for each place."""
    seen: set[tuple[str, str | None]] = set()
    log: Any = schema.error_log
    for entry in log:
        subject = _SUBJECT.match(_IN_BRACES.sub("", entry.message))
        path = entry.path or "/*"
        if subject is None or (path, subject["attribute"]) in seen:
            continue
        if subject["attribute"] is not None or "is not a valid value" not in entry.message:
            seen.add((path, subject["attribute"]))
        elif (path, None) in seen:
            continue
        yield _problem(document, path, subject["element"], subject["attribute"], subject["rest"])


def _problem(
    document: "SubscriptionDocument", path: str, name: str, attribute: str | None, rest: str
) -> Problem:
    element = _element_at(document, path)
    tag = f"<{name}>"
    expected = _expected(rest)
    if (unknown := _NOT_ALLOWED.search(rest)) is not None:
        allowed = schema_attributes().get(name, [])
        message = f'{tag} has no attribute "{unknown[1]}"{did_you_mean(unknown[1], allowed)}'
        return document.problem(document.attribute_span(element, unknown[1]), "D111", message)
    if (missing := _REQUIRED.search(rest)) is not None:
        message = f'{tag} needs the attribute "{missing[1]}"'
        return document.problem(document.span(element), "D112", message)
    if "This element is not expected" in rest:
        close = nearest(name, expected)
        hint = f"; did you mean <{close}>?" if close else ""
        wanted = f" (expected: {listed([f'<{word}>' for word in expected])})" if expected else ""
        return document.problem(document.span(element), "D110", f"{tag} is not expected here{wanted}{hint}")
    if "Missing child" in rest:
        wanted = listed([f"<{word}>" for word in expected])
        return document.problem(
            document.span(element), "D112", f"{tag} is not complete; it still needs one of {wanted}"
        )
    span = document.attribute_span(element, attribute) if attribute else document.text_span(element)
    where = f'attribute "{attribute}" of {tag}' if attribute else tag
    if (choice := _NOT_IN_SET.search(rest)) is not None:
        allowed = re.findall(r"'([^']*)'", choice[2])
        hint = did_you_mean(choice[1], allowed)
        message = f'{where} is "{_cut(choice[1])}"; it is one of {listed(allowed, 12)}{hint}'
        return document.problem(span, "D113", message)
    if (bad := _BAD_VALUE.search(rest)) is not None:
        return document.problem(span, "D113", f'{where}: "{_cut(bad[1])}" is not allowed here')
    if "Character content" in rest:
        return document.problem(document.span(element), "D110", f"text is not expected in {tag}")
    return document.problem(span, "D113", f"{where}: {_cut(rest)}")


def _element_at(document: "SubscriptionDocument", path: str) -> "etree._Element":
    found: Any = document.root.getroottree().xpath(path)
    return cast("etree._Element", found[0]) if found else document.root


def _expected(rest: str) -> list[str]:
    found = _EXPECTED.search(rest)
    words = found[1].split(", ") if found else []
    return [word.strip() for word in words if "#" not in word and "*" not in word]


def _cut(text: str) -> str:
    return text if len(text) <= _TOO_LONG else text[:_TOO_LONG] + "…"

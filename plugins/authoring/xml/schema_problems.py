"""Schema errors as readable messages: without namespaces, with a column and a did-you-mean hint.

A mistyped name is corrected, and an unknown attribute removed, so that checking can continue behind it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from dens.config.problems import Problem, did_you_mean, likely_meant, listed, nearest
from plugins.authoring.xml.schema import DocumentSchema

if TYPE_CHECKING:
    from lxml import etree

    from plugins.authoring.xml.document import SubscriptionDocument

_IN_BRACES = re.compile(r"\{([^{}]*)\}(?=[A-Za-z_#*])")
_SUBJECT = re.compile(
    r"^Element '(?P<element>[^']*)'(?:, attribute '(?P<attribute>[^']*)')?: (?P<rest>.*)$", re.S
)
_NOT_ALLOWED = re.compile(r"The attribute '([^']*)' is not allowed")
_REQUIRED = re.compile(r"The attribute '([^']*)' is required")
_EXPECTED = re.compile(r"Expected is (?:one of )?\( ?(.*?) ?\)\.")
_NOT_IN_SET = re.compile(r"The value '(.*)' is not an element of the set \{(.*)\}", re.S)
_BAD_VALUE = re.compile(r"(?:The value )?'(.*)' is not (?:a valid value|accepted)", re.S)
_LONGER = re.compile(r"exceeds the allowed maximum length of '(\d+)'")
_TOO_LONG = 60
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class _Finding:
    """A schema error, and how to correct it."""

    problem: Problem
    mend: Callable[[], None] | None = None


def schema_problems(schema: DocumentSchema, document: "SubscriptionDocument") -> tuple[list[Problem], bool]:
    """Return all schema errors, and whether correcting them made the document valid.

    Mistyped names are replaced in the document's tree by the nearest ones; other attributes are removed.
    """
    problems: list[Problem] = []
    for _ in range(_ROUNDS):
        if schema.validator().validate(document.root):
            return problems, True
        mended = False
        for finding in list(_findings(schema, document)):
            if finding.problem not in problems:
                problems.append(finding.problem)
                if finding.mend is not None:
                    finding.mend()
                    mended = True
        if not mended:
            break
    return problems, False


def _findings(schema: DocumentSchema, document: "SubscriptionDocument") -> Iterator[_Finding]:
    """Yield one finding per error and place."""
    seen: set[tuple[str, str | None]] = set()
    log: Any = schema.validator().error_log
    for entry in log:
        subject = _SUBJECT.match(_IN_BRACES.sub("", entry.message))
        path = entry.path or "/*"
        if subject is None or (path, subject["attribute"]) in seen:
            continue
        if subject["attribute"] is not None or "is not a valid value" not in entry.message:
            seen.add((path, subject["attribute"]))
        elif (path, None) in seen:
            continue
        element = _element_at(document, path)
        name, attribute, rest = subject["element"], subject["attribute"], subject["rest"]
        if (unknown := _NOT_ALLOWED.search(rest)) is not None:
            yield _unknown_attribute(schema, document, element, name, unknown[1])
        elif "This element is not expected" in rest:
            yield _unexpected(schema, document, element, name, _expected(rest))
        else:
            yield _Finding(_problem(document, element, name, attribute, rest))


def _unknown_attribute(
    schema: DocumentSchema,
    document: "SubscriptionDocument",
    element: "etree._Element",
    name: str,
    unknown: str,
) -> _Finding:
    allowed = schema.attributes().get(name, [])
    message = f'<{name}> has no attribute "{unknown}"{did_you_mean(unknown, allowed)}'
    close = nearest(unknown, allowed)
    fixes = document.attribute_renamed(element, unknown, likely_meant(unknown, allowed))
    problem = document.problem(document.attribute_span(element, unknown), "D111", message, fixes)

    def mend() -> None:
        value = str(element.attrib.pop(unknown))
        if close is not None and close not in element.attrib:
            element.set(close, value)

    return _Finding(problem, mend)


def _unexpected(
    schema: DocumentSchema,
    document: "SubscriptionDocument",
    element: "etree._Element",
    name: str,
    expected: list[str],
) -> _Finding:
    close = nearest(name, expected)
    hint = f"; did you mean <{close}>?" if close else ""
    wanted = f" (expected: {listed([f'<{word}>' for word in expected])})" if expected else ""
    message = f"<{name}> is not expected here{wanted}{hint}"
    span = document.span(element)
    if close is None or name in schema.attributes():
        return _Finding(document.problem(span, "D110", message))
    problem = document.problem(span, "D110", message, document.element_renamed(element, name, close))

    def mend() -> None:
        element.tag = f"{{{schema.namespace}}}{close}"

    return _Finding(problem, mend)


def _problem(
    document: "SubscriptionDocument",
    element: "etree._Element",
    name: str,
    attribute: str | None,
    rest: str,
) -> Problem:
    tag = f"<{name}>"
    if (missing := _REQUIRED.search(rest)) is not None:
        message = f'{tag} needs the attribute "{missing[1]}"'
        return document.problem(document.span(element), "D112", message)
    if "Missing child" in rest:
        wanted = listed([f"<{word}>" for word in _expected(rest)])
        return document.problem(
            document.span(element), "D112", f"{tag} is not complete; it still needs one of {wanted}"
        )
    span = document.attribute_span(element, attribute) if attribute else document.text_span(element)
    where = f'attribute "{attribute}" of {tag}' if attribute else tag
    if (choice := _NOT_IN_SET.search(rest)) is not None:
        allowed = re.findall(r"'([^']*)'", choice[2])
        hint = did_you_mean(choice[1], allowed)
        message = f'{where} is "{_cut(choice[1])}"; it is one of {listed(allowed, 12)}{hint}'
        fixes = document.replaced(span, choice[1], likely_meant(choice[1], allowed))
        return document.problem(span, "D113", message, fixes)
    if "[facet 'minLength']" in rest:
        return document.problem(span, "D113", f"{where} is empty")
    if (longer := _LONGER.search(rest)) is not None:
        return document.problem(span, "D113", f"{where} is longer than {longer[1]} characters")
    if (bad := _BAD_VALUE.search(rest)) is not None:
        return document.problem(span, "D113", f'{where}: "{_cut(bad[1])}" is not allowed here')
    if "Character content" in rest:
        return document.problem(document.span(element), "D110", f"text is not expected in {tag}")
    return document.problem(span, "D113", f"{where}: {_cut(rest)}")


def _element_at(document: "SubscriptionDocument", path: str) -> "etree._Element":
    prefixes = {prefix: uri for one in document.root.iter() for prefix, uri in one.nsmap.items() if prefix}
    found: Any = document.root.getroottree().xpath(path, namespaces=prefixes)
    return cast("etree._Element", found[0]) if found else document.root


def _expected(rest: str) -> list[str]:
    found = _EXPECTED.search(rest)
    words = found[1].split(", ") if found else []
    return [word.strip() for word in words if "#" not in word and "*" not in word]


def _cut(text: str) -> str:
    return text if len(text) <= _TOO_LONG else text[:_TOO_LONG] + "…"

"""From a vector back to a document that compiles to the same vector.

Names are not encoded; primitives are called a, b, c, … Their content is decompiled by their own language. The
model of a prediction cannot be part of a document: it is a separate file.
"""

from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from dens.config.refusal import Refusal
from knowledge_manager.durations import written_duration
from knowledge_manager.mission_table import MissionTable
from plugins.authoring import Authoring
from plugins.composite import NAMESPACE
from plugins.composite.alternatives import meeting_places, written_pattern
from plugins.composite.authoring.describe import letters
from plugins.composite.vectors import DURATION, CompositeBody, constraints_of, decode_body, framed_body
from watchdog.header import framed
from watchdog.lifetime import lifetime_code, lifetime_s


def decompile(vector: bytes, table: MissionTable, atoms: Authoring) -> str:
    """Return a document for a subscription. Invalid bytes raise `VectorError`."""
    width = table.feature_bytes
    body = decode_body(framed_body(vector), width, table)
    if body.prediction is not None and body.prediction.model:
        raise Refusal("the model of a prediction is a separate file and cannot be part of a document")
    write = atoms.decompile
    if write is None:
        raise Refusal("the language of the primitives cannot be decompiled")
    names = letters(len(body.primitives))
    lines = [f"<!-- compile with id {vector[0]}, seq {vector[1]}, stamp {body.stamp_s} -->"]
    lines.append(f"<composite {' '.join(_attributes(vector, body, table))}>")
    for number, name in enumerate(names):
        inner = etree.fromstring(write(framed(0, 0, 0, body.part(number)), table).encode())
        event = quoteattr(str(inner.get("event")))
        least = inner.get("threshold")
        with_threshold = "" if least is None else f" threshold={quoteattr(least)}"
        lines.append(f"  <primitive name={quoteattr(name)} event={event}{with_threshold}>")
        for child in inner:
            text = etree.tostring(child, encoding="unicode", with_tail=False)
            lines.append("    " + text.replace(f' xmlns="{etree.QName(child).namespace}"', ""))
        lines.append("  </primitive>")
    lines.append(f"  <pattern>{escape(pattern_text(body, names))}</pattern>")
    if (wanted := body.prediction) is not None:
        within = str(wanted.horizon)
        if wanted.unit == DURATION:
            within = written_duration(lifetime_s(wanted.horizon))
        probability = f"{wanted.probability / 255:.6f}".rstrip("0")
        lines.append(f'  <predict probability="{probability}" within="{within}"/>')
    return "\n".join([*lines, "</composite>", ""])


def pattern_text(body: CompositeBody, names: list[str]) -> str:
    """Return the pattern with its conditions, as in a document."""
    leaves = body.leaf_primitives
    conditions: dict[int, list[str]] = {}
    meet = meeting_places(body.pattern)
    for one in body.conditions:
        apart = f"t{one.second + 1} - t{one.first + 1}"
        is_upper = not one.low or meet[one.first, one.second] == "and"
        text = f"{apart} <= {one.high}s" if is_upper else f"{apart} in {one.low}s..{one.high}s"
        conditions.setdefault(one.second, []).append(text)

    def leaf(number: int) -> str:
        name = names[leaves[number]]
        return f"{name} @({', '.join(conditions[number])})" if number in conditions else name

    return written_pattern(body.pattern, leaf)


def _attributes(vector: bytes, body: CompositeBody, table: MissionTable) -> list[str]:
    found = [f"xmlns={quoteattr(NAMESPACE)}", f'window="{written_duration(body.window_s)}"']
    found.append(f'valid="{_lifetime(vector[2])}"')
    found.append(f'keep="{_lifetime(body.keep_q)}"')
    if body.keys[0]:
        about = constraints_of(body.primitives[0], table.feature_bytes)
        event = table.event_at(about.event)
        names = " ".join(event.attribute_at(index).name for index in body.keys[0])
        found.append(f"key={quoteattr(names)}")
    if body.is_any_source:
        found.append('scope="any"')
    if body.select != "ends":
        found.append(f'select="{body.select}"')
    if body.quiet_q:
        found.append(f'quiet="{_lifetime(body.quiet_q)}"')
    if body.threshold:
        found.append(f'threshold="{body.threshold / 15 - 0.03:.2f}"')
    return found


def _lifetime(code: int) -> str:
    seconds = lifetime_s(code)
    return written_duration(seconds) if lifetime_code(seconds) == code else f"code:{code}"

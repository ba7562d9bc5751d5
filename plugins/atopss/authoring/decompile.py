"""From a vector back to XML that compiles to the same vector.

The words of the document are lost; the result has corners, as `<lr>` sets. Subscription number, revision and
stamp are options of the compiler; a comment lists them.
"""

from xml.sax.saxutils import quoteattr

from knowledge_manager.durations import written_duration
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.atopss import NAMESPACE
from plugins.atopss.authoring.term_shapes import SIDE_WORDS
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.shapes.scale import HALF, INFINITE
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Function, Joined, Norm, Predicate, Subscription, tree_of
from plugins.authoring.output.reading_words import decimal_text
from watchdog.header import HEADER_ID, HEADER_LIFETIME, HEADER_REVISION, body_of
from watchdog.lifetime import lifetime_code, lifetime_s


def decompile(vector: bytes, table: MissionTable) -> str:
    """Return a subscription document for the vector. Bytes that are not a subscription raise
    `VectorError`.
    """
    wanted = AtopssCodec(table).subscription(body_of(vector))
    event = table.event_at(wanted.event)
    tree = tree_of(wanted)
    parts = tree.parts if isinstance(tree, Joined) and not tree.is_or else (tree,)
    lines = [line for part in parts for line in _element(part, event, wanted)]
    norm = f' norm="{wanted.norm.name.lower()}"' if wanted.norm != Norm.MIN else ""
    head = f"<subscription xmlns={quoteattr(NAMESPACE)} event={quoteattr(event.name)}"
    valid = quoteattr(_valid(vector[HEADER_LIFETIME]))
    given = f"id {vector[HEADER_ID]}, seq {vector[HEADER_REVISION]}, stamp {wanted.stamp_s}"
    return "\n".join(
        [
            f"<!-- compile with {given} -->",
            f"{head} valid={valid}{norm}{_thresholds(wanted.possibility, wanted.necessity)}>",
            *_indented(lines),
            "</subscription>",
            "",
        ]
    )


def _element(function: Function, event: EventClass, wanted: Subscription) -> list[str]:
    if isinstance(function, Joined):
        name = "or" if function.is_or else "and"
        inner = [line for part in function.parts for line in _element(part, event, wanted)]
        return [f"<{name}>", *_indented(inner), f"</{name}>"]
    return _predicate(function, event.attribute_at(function.attribute), wanted)


def _predicate(predicate: Predicate, attribute: Attribute, wanted: Subscription) -> list[str]:
    weight = f' weight="{predicate.weight}"' if wanted.norm == Norm.WEIGHTED_AVERAGE else ""
    least = _thresholds(predicate.possibility, predicate.necessity)
    operator = "is-not" if predicate.complement else "is"
    return [
        f"<approximate-predicate attribute={quoteattr(attribute.name)}{least}{weight}>",
        *_domain(attribute),
        f'  <fuzzy-set term="wanted">{_lr(predicate.shape, attribute)}</fuzzy-set>',
        f"  <{operator}>wanted</{operator}>",
        "</approximate-predicate>",
    ]


def _domain(attribute: Attribute) -> list[str]:
    """Return the unit of the corners, so that no other unit applies."""
    if attribute.type != "number" or not attribute.unit:
        return []
    return [f"  <domain unit={quoteattr(attribute.unit)}/>"]


def _lr(shape: Shape, attribute: Attribute) -> str:
    def at(corner: int) -> str:
        return decimal_text(corner + attribute.lo_scaled, attribute.decimals)

    def wide(width: int) -> str:
        return decimal_text(width, attribute.decimals)

    attributes = ""
    if shape.m2 != -INFINITE:
        attributes += f' lower="{at(shape.m2)}"'
    if shape.m3 != INFINITE:
        attributes += f' upper="{at(shape.m3)}"'
    if shape.m1 < shape.m2:
        attributes += f' left="{wide(shape.m2 - shape.m1)}"'
    if shape.m3 < shape.m4:
        attributes += f' right="{wide(shape.m4 - shape.m3)}"'
    for side, byte in (("left", shape.left), ("right", shape.right)):
        if byte:
            attributes += f' {side}-shape="{_side_words(byte)}"'
    return f"<lr{attributes}/>"


def _side_words(byte: int) -> str:
    return " ".join(SIDE_WORDS[code] for code in (byte >> 4, byte & 15) if code)


def _thresholds(possibility: int, necessity: int) -> str:
    return "".join(
        f' {name}="{_threshold(t)}"'
        for name, t in (("possibility", possibility), ("necessity", necessity))
        if t
    )


def _threshold(threshold: int) -> str:
    """Return the shortest decimal number that compiles to a threshold."""
    if threshold == HALF:
        return "0.5"
    t = threshold // 2
    tenths = 10 * t // 15
    is_one_digit = 15 * tenths > 10 * (t - 1) and tenths != 5
    return f"{tenths / 10:g}" if is_one_digit else f"{100 * t // 15 / 100:g}"


def _valid(code: int) -> str:
    seconds = lifetime_s(code)
    return written_duration(seconds) if lifetime_code(seconds) == code else f"code:{code}"


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]

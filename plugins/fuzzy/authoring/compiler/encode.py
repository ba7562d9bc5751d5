"""Step 5: constraints → vector. Assembles the bytes, with the part of the XML that each one comes from."""

from plugins.authoring.xml.spans import Span
from plugins.fuzzy.authoring.compiler.constraints import Constraint
from plugins.fuzzy.authoring.compiler.predicates import ParsedSubscription
from plugins.fuzzy.vectors import SubscriptionVector, encode_subscription

Spans = tuple[Span | None, ...]
"""For each byte its part of the document; None if the document does not determine it."""


def encode_parsed(
    asked: ParsedSubscription,
    constraints: tuple[Constraint, ...],
    aggregator: int,
    block: bytes,
    *,
    feature_bytes: int,
    id: int,
    seq: int,
    stamp_s: int,
) -> tuple[bytes, Spans]:
    """Return the vector and the span of each of its bytes."""
    parts = SubscriptionVector(
        id=id,
        seq=seq,
        valid=asked.valid,
        stamp_s=stamp_s,
        threshold=asked.threshold,
        aggregator=aggregator,
        block=block,
        constraints=tuple(constraint.triple for constraint in constraints),
        event=asked.event,
        attributes=tuple(constraint.index for constraint in constraints),
        feature_bytes=feature_bytes,
    )
    vector = encode_subscription(parts)
    header: list[Span | None] = [None, None, asked.valid_span, None, None]
    combining = [asked.combination.span if asked.combination.aggregator else asked.threshold_span]
    in_block = [asked.combination.span] * ((1 + len(block)) if block else 0)
    triples = [constraint.spec.span for constraint in constraints for _ in range(3)]
    features = [asked.event_span] * feature_bytes + [None] * feature_bytes
    return vector, (*header, *combining, *in_block, *triples, *features)

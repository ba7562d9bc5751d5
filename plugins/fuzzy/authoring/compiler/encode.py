"""Step 5: constraints → body. Assembles the bytes, with the part of the XML that each one comes from."""

from plugins.authoring.xml.spans import Span
from plugins.fuzzy.authoring.compiler.blocks import Block
from plugins.fuzzy.authoring.compiler.constraints import Constraint
from plugins.fuzzy.authoring.compiler.predicates import ParsedSubscription
from plugins.fuzzy.vectors import SubscriptionVector, encode_subscription
from watchdog.header import body_of

Spans = tuple[Span | None, ...]
"""For each byte its part of the document; None if the document does not determine it."""


def encode_parsed(
    asked: ParsedSubscription,
    constraints: tuple[Constraint, ...],
    block: Block,
    feature_bytes: int,
    stamp_s: int,
) -> tuple[bytes, Spans]:
    """Return the body and the span of each of its bytes."""
    parts = SubscriptionVector(
        id=0,
        seq=0,
        valid=asked.valid,
        stamp_s=stamp_s,
        threshold=asked.threshold,
        aggregator=block.aggregator,
        block=block.content,
        constraints=tuple(constraint.triple for constraint in constraints),
        event=asked.event,
        attributes=tuple(constraint.index for constraint in constraints),
        feature_bytes=feature_bytes,
    )
    body = body_of(encode_subscription(parts))
    combining = [asked.combination.span if asked.combination.aggregator else asked.threshold_span]
    in_block = [asked.combination.span] * ((1 + len(block.content)) if block.content else 0)
    triples = [constraint.spec.span for constraint in constraints for _ in range(3)]
    features = [asked.event_span] * feature_bytes + [None] * feature_bytes
    return body, (None, None, *combining, *in_block, *triples, *features)

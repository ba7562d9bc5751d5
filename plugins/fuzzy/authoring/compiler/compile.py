"""From a subscription in XML to its vector, step by step."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.terms import Universal
from plugins.authoring import DEFAULTS, Compiled, CompileOptions
from plugins.authoring.constants import plain_number
from plugins.authoring.xml.compiling import reader_of, refuse, rounded_lifetime
from plugins.authoring.xml.document import SubscriptionDocument, read_subscription
from plugins.authoring.xml.schema import DocumentSchema
from plugins.authoring.xml.spans import Span
from plugins.authoring.xml.words import ResolvedWord
from plugins.board_vectors import SUBSCRIPTION, SubscriptionBody, encode_body
from plugins.fuzzy import NAMESPACE
from plugins.fuzzy.authoring.compiler.aggregators import AggregatingFunctions
from plugins.fuzzy.authoring.compiler.blocks import Block, FunctionError, pattern_block
from plugins.fuzzy.authoring.compiler.constraint_specs import Crisp, Curved, Exact
from plugins.fuzzy.authoring.compiler.constraints import Constraint, constrain
from plugins.fuzzy.authoring.compiler.fit import DOUBTFUL, REFUSED
from plugins.fuzzy.authoring.compiler.predicates import (
    ParsedSubscription,
    TagReaders,
    read_predicates,
    registered_tags,
)
from plugins.fuzzy.authoring.compiler.term_check import curve_fault
from watchdog.vector import VectorError

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.fuzzy", "subscription.xsd")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CompiledFuzzy(Compiled):
    """A compiled fuzzy subscription and its derivation.

    `threshold` is the effective one, rounded up to fifteenths. `deviation` is the largest of the constraints,
    over exact readings. `words` are the resolved words, `function_error` is the error of a function's rules.
    """

    deviation: float
    threshold: float
    constraints: tuple[Constraint, ...]
    words: tuple[ResolvedWord, ...]
    function_error: FunctionError | None = None


def compile_subscription(
    source: bytes,
    file: str,
    table: MissionTable,
    options: CompileOptions = DEFAULTS,
    *,
    tags: TagReaders | None = None,
    aggregators: AggregatingFunctions | None = None,
) -> CompiledFuzzy:
    """Return the compiled subscription. All errors raise one `DocumentError`.

    `options.tolerance` is the maximum deviation between a requested curve and its three bytes, the maximum
    shift of a crisp bound as a share of the domain, and the maximum error of a broken-down function. `tags`
    replaces the registered readers of predicates, `aggregators` the registered aggregating functions.
    """
    document = read_subscription(source, file, SCHEMA)
    reader = reader_of(document, table, options.thesaurus)
    parsed = read_predicates(reader, registered_tags() if tags is None else tags, aggregators)
    constraints = tuple(constrain(spec) for spec in parsed.specs)
    block = pattern_block(parsed, document)
    tolerance = REFUSED if options.tolerance is None else options.tolerance
    problems = [*parsed.warnings, *_deviations(constraints, document, tolerance)]
    problems += _function_problems(block, document, parsed, tolerance)
    if block.is_constant:
        message = "this function is constant; use the names of predicates in it"
        problems.append(document.warning(parsed.combination.span, "D158", message))
    refuse(problems, document, strict=options.strict)
    try:
        body = encode_body(
            SubscriptionBody(
                stamp_s=options.stamp_s % 65536,
                threshold=parsed.threshold,
                aggregator=block.aggregator,
                block=block.content,
                constraints=tuple(constraint.triple for constraint in constraints),
                event=parsed.event,
                attributes=tuple(constraint.index for constraint in constraints),
                feature_bytes=table.feature_bytes,
            )
        )
    except VectorError as error:
        message = f"invalid <table>: {error.message}"
        raise DocumentError([document.problem(parsed.combination.span, "D123", message)]) from None
    deviation = max(constraint.deviation for constraint in constraints)
    threshold = parsed.threshold / 15
    spans = _spans(body, parsed, constraints, table.feature_bytes)
    header_spans = (None, None, parsed.valid_span)
    return CompiledFuzzy(
        body=body,
        lifetime_q=parsed.valid,
        warnings=tuple(sorted(problems)),
        remarks=tuple(_roundings(document, parsed)),
        steps={
            "deviation": deviation,
            "threshold": threshold,
            "words": [word.as_document() for word in parsed.words],
            "constraints": [constraint.as_document() for constraint in constraints],
            "function_error": None if block.function_error is None else asdict(block.function_error),
            "spans": [None if span is None else asdict(span) for span in (*header_spans, *spans)],
        },
        spans=spans,
        deviation=deviation,
        threshold=threshold,
        constraints=constraints,
        words=parsed.words,
        function_error=block.function_error,
    )


def _spans(
    body: bytes, parsed: ParsedSubscription, constraints: tuple[Constraint, ...], width: int
) -> tuple[Span | None, ...]:
    """Return the part of the document of each byte, None if the document does not determine it."""
    combination = parsed.combination
    field_spans: dict[str, Span | list[Span] | None] = {
        "stamp": None,
        "threshold, aggregator": combination.span if combination.aggregator else parsed.threshold_span,
        "pattern block": combination.span,
        "constraint": [constraint.spec.span for constraint in constraints],
        "event feature": parsed.event_span,
        "attribute feature": None,
    }
    annotated = SUBSCRIPTION.annotate(body, field_spans, width)
    return tuple(span for _, piece, span in annotated for _ in piece)


def _roundings(document: SubscriptionDocument, parsed: ParsedSubscription) -> Iterator[str]:
    """Yield where the bytes differ from the document: thresholds are fifteenths, lifetimes powers of two."""
    threshold = document.root.get("threshold")
    if threshold is not None and abs(parsed.threshold / 15 - plain_number(threshold)) > 1e-9:
        rounded = f"{parsed.threshold}/15 ({parsed.threshold / 15:.3f})"
        yield f"threshold {threshold.strip()} is rounded up to {rounded}"
    yield from rounded_lifetime(document, parsed.valid)


def _deviations(
    constraints: tuple[Constraint, ...], document: SubscriptionDocument, tolerance: float
) -> Iterator[Problem]:
    for constraint in constraints:
        span, name = constraint.spec.span, constraint.attribute
        shape, shift = constraint.spec.shape, constraint.shift
        fault = curve_fault(constraint, tolerance)
        if constraint.is_never_met:
            complain = document.warning if _is_by_bytes(shape) else document.problem
            yield complain(span, "D154", f"{name}: {fault}")
        elif shift is not None:
            if shift.moved > tolerance:
                by = f"a bound moves by {shift.moved:.3g} of the domain, {tolerance:g} is allowed"
                yield document.problem(span, "D129", f"{name}: {by}; {shift.words}")
            elif shift.is_everything:
                message = "lets every reading pass: every step contains some matching readings"
                yield document.warning(span, "D161", f"{name}: {message}; {shift.words}")
            else:
                yield document.warning(span, "D160", f"{name}: {shift.words}")
        elif isinstance(shape, Exact) and shape.meaning:
            yield document.warning(span, "D160", f"{name}: {shape.meaning}")
        elif fault:
            yield document.problem(span, "D152", f"{name}: {fault}")
        elif constraint.doubt > DOUBTFUL:
            straying = f"the encoded curve deviates by {constraint.deviation:.3f} from the requested one"
            yield document.warning(span, "D151", f"{name}: {straying}")


def _function_problems(
    block: Block, document: SubscriptionDocument, parsed: ParsedSubscription, tolerance: float
) -> Iterator[Problem]:
    """Yield the error of a function's rules: always as a note, above a tenth as a warning, above the
    tolerance as an error.
    """
    missed, span = block.function_error, parsed.combination.span
    if missed is None or block.is_constant:
        return
    strays = f"by up to {missed.largest:.3f} ({missed.mean:.3f} on average) from this function"
    if missed.largest > tolerance:
        remedy = "use a pattern, another aggregating function or fewer predicates, or raise --tolerance"
        message = f"broken down into pairs it deviates {strays}, {tolerance:g} is allowed; {remedy}"
        yield document.problem(span, "D720", message)
    elif missed.largest > DOUBTFUL:
        yield document.warning(span, "D156", f"the rules deviate {strays}")
    else:
        size = len(block.content)
        message = f"broken down into pairs in {size} byte{'' if size == 1 else 's'}, it deviates {strays}"
        yield document.note(span, "D721", message)


def _is_by_bytes(shape: Exact | Crisp | Curved) -> bool:
    """Return whether the document has the bytes themselves, as a decompiled vector does."""
    return isinstance(shape, Exact) or (isinstance(shape, Curved) and isinstance(shape.fuzzifier, Universal))

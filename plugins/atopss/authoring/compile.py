"""From a subscription in XML to its body."""

from typing import Any, Final

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import MissionTable
from plugins.atopss.authoring.predicates import FunctionReader, weighted
from plugins.atopss.authoring.schema import SCHEMA
from plugins.atopss.authoring.term_shapes import TOO_LARGE
from plugins.atopss.authoring.thresholds import read_threshold
from plugins.atopss.authoring.words import predicate_words
from plugins.atopss.canonical import canonical
from plugins.atopss.subscriptions import Function, Joined, Norm, Predicate, Subscription
from plugins.atopss.vectors import SUBSCRIPTION, encode_subscription
from plugins.authoring import DEFAULTS, Compiled, CompileOptions
from plugins.authoring.xml.compiling import has_errors, reader_of, refuse_problems, rounded_lifetime
from plugins.authoring.xml.document import SubscriptionDocument, read_subscription
from plugins.authoring.xml.reader import PredicateReader
from plugins.authoring.xml.root_attributes import read_valid
from plugins.authoring.xml.spans import Span

MEANS: Final = "D165"
NORMS: Final = {"min": Norm.MIN, "product": Norm.PRODUCT, "average": Norm.AVERAGE} | {
    "weighted_average": Norm.WEIGHTED_AVERAGE
}
LARGEST_WEIGHT: Final = 255


def compile_subscription(
    source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
) -> Compiled:
    """Return the compiled subscription. All errors raise one `DocumentError`."""
    document = read_subscription(source, file, SCHEMA)
    reader = reader_of(document, table, options.thesaurus)
    root = document.root
    valid = read_valid(root.get("valid"), document.attribute_span(root, "valid"), reader)
    possibility, necessity = (
        read_threshold(root.get(name), name, document.attribute_span(root, name), reader)
        for name in ("possibility", "necessity")
    )
    norm = NORMS[str(root.get("norm", "min")).strip()]
    functions = FunctionReader(reader, norm)
    function = functions.read(root)
    if function is None and not reader.problems:
        message = "a subscription needs at least one predicate"
        reader.complain(document.span(root), "D127", message)
    if function is not None and not has_errors(reader.problems):
        function = _with_weights(function, functions, reader)
    refuse_problems(reader, strict=options.strict)
    assert function is not None
    try:
        wanted = canonical(
            reader.event.index,
            function,
            norm,
            possibility=possibility,
            necessity=necessity,
            stamp_s=options.stamp_s % 65536,
        )
    except ValueError as error:
        raise DocumentError([document.problem(document.span(root), TOO_LARGE, str(error))]) from None
    return Compiled(
        body=encode_subscription(wanted),
        lifetime_q=valid,
        warnings=tuple(sorted(reader.problems)),
        remarks=tuple(rounded_lifetime(document, valid)),
        steps=_steps(wanted, reader),
        spans=_spans(wanted, functions, document),
    )


def _with_weights(function: Function, functions: FunctionReader, reader: PredicateReader) -> Function:
    """Return the function with its weights, or report what a mean cannot join."""
    norm, document = functions.norm, reader.document
    if norm != Norm.WEIGHTED_AVERAGE:
        for span, weight in functions.weights.items():
            if weight != 1.0:
                message = 'a weight requires norm="weighted_average"; set it, or remove the weight'
                reader.complain(span, MEANS, message)
    if not norm.is_mean:
        return function
    parts = function.parts if isinstance(function, Joined) else (function,)
    leaves = [part for part in parts if isinstance(part, Predicate)]
    if len(leaves) < len(parts) or (isinstance(function, Joined) and function.is_or):
        message = f'norm="{norm.name.lower()}" joins a flat list of predicates, without or and nesting'
        reader.complain(document.span(document.root), MEANS, message)
    if norm == Norm.AVERAGE or has_errors(reader.problems):
        return function
    wanted = {leaf: functions.weights[functions.spans[leaf]] for leaf in leaves}
    largest = max(wanted.values())
    if not largest:
        message = "all weights are 0; set at least one"
        reader.complain(document.span(document.root), "D125", message)
        return function
    is_whole = largest <= LARGEST_WEIGHT and all(weight == int(weight) for weight in wanted.values())
    weights = {
        leaf: int(weight) if is_whole else max(1, round(LARGEST_WEIGHT * weight / largest)) if weight else 0
        for leaf, weight in wanted.items()
    }
    return weighted(function, weights)


def _steps(wanted: Subscription, reader: PredicateReader) -> dict[str, Any]:
    return {
        "norm": wanted.norm.name.lower(),
        "form": wanted.form.name.lower(),
        "words": [word.as_document() for word in reader.words.resolved],
        "predicates": [
            {
                "attribute": reader.event.attribute_at(one.attribute).name,
                "index": one.attribute,
                "words": predicate_words(one, reader.event.attribute_at(one.attribute)),
            }
            for one in wanted.predicates
        ],
    }


def _spans(
    wanted: Subscription, functions: FunctionReader, document: SubscriptionDocument
) -> tuple[Span | None, ...]:
    """Return the span of each byte of the body."""
    root = document.root
    by_shape = {(one.attribute, one.shape, one.complement): span for one, span in functions.spans.items()}
    field_spans: dict[str, Span | list[Span | None] | None] = {
        "stamp": None,
        "thresholds": document.attribute_span(root, "possibility"),
        "event, norm": document.attribute_span(root, "event"),
        "predicates, form": None,
        "predicate": [by_shape.get((one.attribute, one.shape, one.complement)) for one in wanted.predicates],
        "tokens": None,
    }
    annotated = SUBSCRIPTION.annotate(wanted, field_spans)
    return tuple(span for _, piece, span in annotated for _ in piece)

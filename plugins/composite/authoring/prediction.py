"""Reads <predict>: probability, horizon and model."""

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dens.config.problems import DocumentError
from dens.config.reading import read_document
from knowledge_manager.durations import duration_s, written_duration
from plugins.authoring.constants import plain_number
from plugins.authoring.xml.reader import attempted
from plugins.authoring.xml.spans import Span
from plugins.composite.authoring.problems import Complaints
from plugins.composite.prediction.model import BadModel, Model, highest_beta, read_model, subject_of
from plugins.composite.vectors import DURATION, READINGS, CompositeBody, Prediction
from watchdog.lifetime import LONGEST_LIFETIME_S, lifetime_code, lifetime_s

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_READINGS: Final = re.compile(r"\d{1,4}")
_MOST_READINGS: Final = 255


def read_prediction(
    element: "Element",
    complaints: Complaints,
    body: CompositeBody | None,
    feature_bytes: int,
    *,
    is_any: bool,
    is_learning: bool,
) -> Prediction | None:
    """Return the prediction, or None if it has errors, which are reported. `body` is the subscription without
    it, None if that has errors already.
    """
    document = complaints.document
    if is_any:
        message = "a prediction needs one source, which sees all its readings; remove scope"
        complaints.complain(document.span(element), "D242", message)
    probability = _probability(element, complaints)
    horizon = _horizon(element, complaints)
    name = element.get("model")
    if probability is None or horizon is None:
        return None
    if name is None or is_learning:
        return Prediction(probability, *horizon)
    if body is None:
        return None
    span = document.attribute_span(element, "model")
    path = Path(document.file).parent / name.strip()
    try:
        model = read_model(read_document(path))
    except DocumentError as error:
        complaints.complain(span, "D245", f"{name.strip()} cannot be read: {error.problems[0].message}")
        return None
    except BadModel as error:
        complaints.complain(span, "D245", f"{name.strip()}: {error}")
        return None
    return _with_model(
        model, name.strip(), Prediction(probability, *horizon), body, feature_bytes, span, complaints
    )


def _with_model(
    model: Model,
    name: str,
    wanted: Prediction,
    body: CompositeBody,
    feature_bytes: int,
    span: Span,
    complaints: Complaints,
) -> Prediction | None:
    if model.subject != subject_of(body, feature_bytes):
        message = f"{name} was learnt for another pattern, window or primitive; learn it again"
        complaints.complain(span, "D245", message)
        return None
    if (model.unit, model.horizon) != (wanted.unit, wanted.horizon):
        complaints.complain(span, "D245", f"{name} was learnt for another horizon; learn it again")
        return None
    table = model.counted.table()
    if not table:
        message = f"{name} has no states: no match began in its data; remove it"
        complaints.complain(span, "D246", message)
        return None
    found = Prediction(wanted.probability, wanted.unit, wanted.horizon, table)
    if (reached := highest_beta(found)) < wanted.probability:
        message = f"the model never reaches this probability; its maximum is {reached / 255:.2f}"
        complaints.warning(span, "D253", message)
    return found


def _probability(element: "Element", complaints: Complaints) -> int | None:
    span = complaints.document.attribute_span(element, "probability")
    wanted = attempted(complaints, span, plain_number, str(element.get("probability")))
    if wanted is None:
        return None
    if not 0 < wanted <= 1:
        complaints.complain(span, "D243", f"probability {wanted:g} is not above 0 and at most 1")
        return None
    return math.ceil(255 * wanted - 1e-9)


def _horizon(element: "Element", complaints: Complaints) -> tuple[int, int] | None:
    span = complaints.document.attribute_span(element, "within")
    text = str(element.get("within")).strip()
    if _READINGS.fullmatch(text):
        if 1 <= int(text) <= _MOST_READINGS:
            return READINGS, int(text)
        complaints.complain(span, "D244", f"within {text} readings: expected 1 to {_MOST_READINGS}")
        return None
    seconds = duration_s(text)
    if seconds is None or not 0 < seconds <= LONGEST_LIFETIME_S:
        message = f'within is "{text[:40]}"; it is a positive duration such as PT5M, or a number of readings'
        complaints.complain(span, "D244", message)
        return None
    code = lifetime_code(math.ceil(seconds))
    if lifetime_s(code) != math.ceil(seconds):
        within = written_duration(lifetime_s(code))
        complaints.problems.append(
            complaints.document.note(span, "D255", f"within is rounded up to {within}")
        )
    return DURATION, code

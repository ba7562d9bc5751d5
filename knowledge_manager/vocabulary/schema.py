"""The schema of vocabulary files (docs/reference/vocabulary.md), key by key.

Every key has a type, and unknown keys are errors. Checks that involve several keys, such as duplicate indexes
or terms that refer to others, are in `reader`.
"""

import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

from dens.config.problems import did_you_mean, listed
from knowledge_manager.names import name_fault, normalise_name
from knowledge_manager.vocabulary.event_class import AttributeType
from knowledge_manager.vocabulary.graph_class import LARGEST_PUBLICATION, MOST_BYTES
from knowledge_manager.vocabulary.hedges import HEDGES
from knowledge_manager.vocabulary.side_shapes import STRAIGHT
from knowledge_manager.vocabulary.terms import (
    Bell,
    Fuzzifier,
    Gaussian,
    Hedged,
    Lr,
    Points,
    Shoulder,
    Sigmoid,
    Term,
    Trapezoidal,
    Triangular,
    Universal,
    faults,
)


def _name(given: str) -> str:
    name = normalise_name(given)
    fault = name_fault(name)
    if fault is not None:
        shown = name[:80].encode("unicode_escape").decode() if not name.isprintable() else name[:80]
        raise PydanticCustomError("D203", "{fault}", {"fault": f'"{shown}" {fault}'})
    return name


Name = Annotated[StrictStr, AfterValidator(_name)]
Amount = Annotated[float, Field(allow_inf_nan=False)]
Byte = Annotated[StrictInt, Field(ge=0, le=255)]
DomainEnd = Decimal | datetime.date


def _scale(value: Any) -> Any:
    """Check the form of a scale; pydantic's own message would name every alternative that it tried."""
    if value in ("linear", "log"):
        return value
    if isinstance(value, list) and all(_is_breakpoint(one) for one in value):
        return [(Decimal(one[0]), one[1]) for one in value]
    message = 'a scale must be "linear", "log", or breakpoints [[value, byte], …] with bytes 0..255'
    raise PydanticCustomError("D215", "{reason}", {"reason": message})


def _is_breakpoint(one: Any) -> bool:
    if not isinstance(one, list) or len(one) != 2 or any(isinstance(number, bool) for number in one):
        return False
    value, byte = one
    is_finite = isinstance(value, int) or (isinstance(value, Decimal) and value.is_finite())
    return is_finite and isinstance(byte, int) and 0 <= byte <= 255


Scale = Annotated[
    Literal["linear", "log"] | list[tuple[Decimal, int]],
    BeforeValidator(_scale),
]


class Table(BaseModel):
    """A TOML table in which every key is known."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class TrapezoidalTable(Table):
    left: Amount
    right: Amount
    width: Amount

    def fuzzifier(self) -> Fuzzifier:
        return Trapezoidal(self.left, self.right, self.width)


class TriangularTable(Table):
    center: Amount
    width: Amount

    def fuzzifier(self) -> Fuzzifier:
        return Triangular(self.center, self.width)


class GaussianTable(Table):
    center: Amount
    sigma: Amount

    def fuzzifier(self) -> Fuzzifier:
        return Gaussian(self.center, self.sigma)


class BellTable(Table):
    center: Amount
    width: Amount
    slope: Amount

    def fuzzifier(self) -> Fuzzifier:
        return Bell(self.center, self.width, self.slope)


class SigmoidTable(Table):
    center: Amount
    slope: Amount

    def fuzzifier(self) -> Fuzzifier:
        return Sigmoid(self.center, self.slope)


class ShoulderTable(Table):
    side: Literal["left", "right"]
    start: Amount = Field(alias="from")
    end: Amount = Field(alias="to")

    def fuzzifier(self) -> Fuzzifier:
        return Shoulder(self.side, self.start, self.end)


class LrTable(Table):
    lower: Amount | None = None
    upper: Amount | None = None
    left: Amount = 0.0
    right: Amount = 0.0
    left_shape: StrictStr = STRAIGHT
    right_shape: StrictStr = STRAIGHT

    def fuzzifier(self) -> Fuzzifier:
        return Lr(self.lower, self.upper, self.left, self.right, self.left_shape, self.right_shape)


class UniversalTable(Table):
    v: Byte
    V: Byte
    g: Byte

    def fuzzifier(self) -> Fuzzifier:
        return Universal(self.v, self.V, self.g)


def _known_hedge(word: str) -> str:
    if word not in HEDGES:
        raise PydanticCustomError(
            "D203",
            'unknown hedge "{word}"{hint} ({known})',
            {"word": word, "hint": did_you_mean(word, HEDGES), "known": listed(list(HEDGES))},
        )
    return word


def _one_or_several(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


HedgeName = Annotated[StrictStr, AfterValidator(_known_hedge)]


class TermTable(Table):
    """Exactly one fuzzifier, or `hedge` and `of` together."""

    trapezoidal: TrapezoidalTable | None = None
    triangular: TriangularTable | None = None
    gaussian: GaussianTable | None = None
    bell: BellTable | None = None
    sigmoid: SigmoidTable | None = None
    shoulder: ShoulderTable | None = None
    points: list[tuple[Amount, Amount]] | None = None
    lr: LrTable | None = None
    universal: UniversalTable | None = None
    hedge: Annotated[list[HedgeName], BeforeValidator(_one_or_several)] | None = None
    of: Name | None = None

    @model_validator(mode="after")
    def _one_meaning(self) -> "TermTable":
        shapes = [name for name in type(self).model_fields if getattr(self, name) is not None]
        hedged = [name for name in shapes if name in ("hedge", "of")]
        if not (len(shapes) == 1 and not hedged) and sorted(shapes) != ["hedge", "of"]:
            raise PydanticCustomError("D210", "a term needs one fuzzifier, or `hedge` and `of` together")
        term = self.term()
        if not isinstance(term, Hedged):
            found = faults(term)
            if found:
                raise PydanticCustomError("D210", "{reason}", {"reason": "; ".join(found)})
        return self

    def term(self) -> Term:
        if self.of is not None and self.hedge is not None:
            return Hedged(tuple(self.hedge), self.of)
        if self.points is not None:
            return Points(tuple(self.points))
        tables = (
            self.trapezoidal,
            self.triangular,
            self.gaussian,
            self.bell,
            self.sigmoid,
            self.shoulder,
            self.lr,
            self.universal,
        )
        return next(table for table in tables if table is not None).fuzzifier()


class AttributeTable(Table):
    name: Name
    index: StrictInt
    type: AttributeType = "number"
    domain: tuple[DomainEnd, DomainEnd] | None = None
    unit: StrictStr | None = None
    decimals: Annotated[StrictInt, Field(ge=0, le=6)] | None = None
    scale: Scale = "linear"
    values: list[StrictStr] | None = None
    terms: dict[Name, TermTable] = {}
    about: StrictStr = ""


class PlaceTable(Table):
    name: Name
    x: Amount
    y: Amount


class EventTable(Table):
    name: Name
    index: StrictInt
    attribute: Annotated[list[AttributeTable], Field(min_length=1)]
    location: tuple[Name, Name] | None = None
    place: list[PlaceTable] = []
    notification_lifetime: StrictStr | None = None
    about: StrictStr = ""


class FacetTable(Table):
    name: Name
    index: StrictInt
    properties: list[StrictStr] = []
    open: bool = False
    about: StrictStr = ""


class GraphTable(Table):
    name: Name
    index: StrictInt
    namespaces: dict[StrictStr, StrictStr]
    terms: list[StrictStr] = []
    taxonomy: StrictStr | None = None
    most_bytes: Annotated[StrictInt, Field(ge=64, le=LARGEST_PUBLICATION)] = MOST_BYTES
    facet: Annotated[list[FacetTable], Field(min_length=1)]
    notification_lifetime: StrictStr | None = None
    about: StrictStr = ""


class VocabularyTable(Table):
    name: Name
    version: Annotated[StrictInt, Field(ge=1)]
    feature_bytes: Literal[1, 2, 4, 8] = 1
    event: list[EventTable] = []
    graph: list[GraphTable] = []
    about: StrictStr = ""

    @model_validator(mode="after")
    def _has_something(self) -> "VocabularyTable":
        if not self.event and not self.graph:
            message = "a vocabulary needs event classes ([[event]]), graph classes ([[graph]]), or both"
            raise PydanticCustomError("D202", "{reason}", {"reason": message})
        return self

"""What sensors measure, as a scenario file says it: generators and recordings."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, PositiveFloat, Tag
from pydantic_core import PydanticCustomError

from emulation.scenario.base import Name, NotNegative, Settings
from knowledge_manager.documents import did_you_mean, listed


class VitalSignsSettings(Settings):
    """Makes up the vital signs of patients, some of whom deteriorate."""

    generator: Literal["vital_signs"]
    deteriorating: Annotated[float, Field(ge=0, le=1)] = 0.3


class DiurnalWeatherSettings(Settings):
    """Makes up the weather at a pole: day and night, and squalls."""

    generator: Literal["diurnal_weather"]
    mean_deg_c: Annotated[float, Field(ge=-30, le=45)] = 12.0
    swing_deg_c: Annotated[float, Field(ge=0, le=25)] = 6.0
    begins_at_h: Annotated[float, Field(ge=0, lt=24)] = 6.0
    squalls_per_day: Annotated[float, Field(ge=0, le=100)] = 1.0


class UniformSettings(Settings):
    """Draws the values of any event class uniformly."""

    generator: Literal["uniform"]


class FireSignsSettings(Settings):
    """Makes up heat, carbon monoxide and smoke at a place where it sometimes burns."""

    generator: Literal["fire_signs"]
    flare_ups_per_day: Annotated[float, Field(ge=0, le=100)] = 1.0


class CsvSettings(Settings):
    """Replays a recording: which column is the time, and which is which attribute."""

    csv: Annotated[str, Field(min_length=1)]
    time_column: str
    series_column: str | None = None
    columns: Annotated[dict[str, str], Field(min_length=1)]
    units: dict[str, str] = Field(default_factory=dict)
    missing: tuple[str, ...] = ("",)
    longest_gap_s: PositiveFloat | None = None


_GENERATORS = ("vital_signs", "diurnal_weather", "fire_signs", "uniform")


def _known_source(value: Any) -> Any:
    """Say which generators there are when the one that is named is none of them."""
    generator = value.get("generator") if isinstance(value, dict) else None
    if isinstance(generator, str) and generator not in _GENERATORS:
        raise PydanticCustomError(
            "D302",
            'there is no generator "{generator}"{hint} ({known})',
            {
                "generator": generator,
                "hint": did_you_mean(generator, _GENERATORS),
                "known": listed(_GENERATORS),
            },
        )
    return value


def _kind_of_source(value: Any) -> str:
    """Tell the kinds of sources apart; the tags are no keys of the file, so that no place is taken for
    another."""
    if not isinstance(value, dict):
        return getattr(value, "generator", "recording")
    return "recording" if "csv" in value else str(value.get("generator", "vital_signs"))


SourceSettings = Annotated[
    Annotated[VitalSignsSettings, Tag("vital_signs")]
    | Annotated[DiurnalWeatherSettings, Tag("diurnal_weather")]
    | Annotated[FireSignsSettings, Tag("fire_signs")]
    | Annotated[UniformSettings, Tag("uniform")]
    | Annotated[CsvSettings, Tag("recording")],
    Discriminator(_kind_of_source),
    BeforeValidator(_known_source),
]


class SensorSettings(Settings):
    """Every node of a group reads an event class at this interval, from this time on."""

    group: Name
    event: str
    at_s: NotNegative = 0.0
    every_s: Annotated[float, Field(ge=0.001, le=365 * 86_400)]
    source: SourceSettings

"""Settings of sensors in a scenario file: generators and recordings."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PositiveFloat, Tag, model_validator
from pydantic_core import PydanticCustomError

from emulation.settings_base import Name, NotificationLifetime, NotNegative, Settings
from emulation.table_kinds import kind_by, known_kind, tag


class VitalSignsSettings(Settings):
    """Generates the vital signs of patients, some of whom deteriorate."""

    generator: Literal["vital_signs"]
    deteriorating: Annotated[float, Field(ge=0, le=1)] = 0.3


class DiurnalWeatherSettings(Settings):
    """Generates the weather at a pole: day and night, and squalls."""

    generator: Literal["diurnal_weather"]
    mean_deg_c: Annotated[float, Field(ge=-30, le=45)] = 12.0
    swing_deg_c: Annotated[float, Field(ge=0, le=25)] = 6.0
    begins_at_h: Annotated[float, Field(ge=0, lt=24)] = 6.0
    squalls_per_day: Annotated[float, Field(ge=0, le=100)] = 1.0


class UniformSettings(Settings):
    """Draws the values of any event class uniformly."""

    generator: Literal["uniform"]


class FireSignsSettings(Settings):
    """Generates temperature, carbon monoxide and smoke at a place with occasional fires."""

    generator: Literal["fire_signs"]
    flare_ups_per_day: Annotated[float, Field(ge=0, le=100)] = 1.0


class CsvSettings(Settings):
    """Replays a recording: the column of the time, and those of the attributes."""

    csv: Annotated[str, Field(min_length=1)]
    time_column: str
    series_column: str | None = None
    columns: Annotated[dict[str, str], Field(min_length=1)]
    units: dict[str, str] = Field(default_factory=dict)
    missing: tuple[str, ...] = ("",)
    longest_gap_s: PositiveFloat | None = None


def _kind_of_source(value: Any) -> str:
    """Return the tag of a source: a generator by its name, a recording by its file."""
    is_recording = "csv" in value if isinstance(value, dict) else isinstance(value, CsvSettings)
    return tag("recording") if is_recording else _generator_of(value)


_generator_of = kind_by("generator", "vital_signs")
SourceSettings = Annotated[
    Annotated[VitalSignsSettings, Tag(tag("vital_signs"))]
    | Annotated[DiurnalWeatherSettings, Tag(tag("diurnal_weather"))]
    | Annotated[FireSignsSettings, Tag(tag("fire_signs"))]
    | Annotated[UniformSettings, Tag(tag("uniform"))]
    | Annotated[CsvSettings, Tag(tag("recording"))],
    Discriminator(_kind_of_source),
    known_kind("generator", "generator", ("vital_signs", "diurnal_weather", "fire_signs", "uniform")),
]


class ErrorSettings(Settings):
    """The distance of the true value from the measured one: uniform, or triangular around the measured
    value.
    """

    interval: PositiveFloat | None = None
    triangular: PositiveFloat | None = None

    @model_validator(mode="after")
    def _one_form(self) -> "ErrorSettings":
        if (self.interval is None) == (self.triangular is None):
            raise PydanticCustomError("D302", "an error is either { interval = … } or { triangular = … }")
        return self


class SensingSettings(Settings):
    """When sensors are read: on demand, only while a subscription needs them; otherwise always, so that the
    trace has all readings that could have been notified.
    """

    on_demand: bool = False


class SensorSettings(Settings):
    """Every node of a group measures an event class at this interval, from this time on."""

    group: Name
    event: str
    at_s: NotNegative = 0.0
    every_s: Annotated[float, Field(ge=0.001, le=365 * 86_400)]
    notification_lifetime_s: NotificationLifetime | None = None
    source: SourceSettings
    error: dict[str, ErrorSettings] = Field(default_factory=dict)

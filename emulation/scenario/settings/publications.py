"""What `[[publication]]` of a scenario file may say."""

from typing import Annotated

from pydantic import Field

from emulation.settings_base import Name, NotificationLifetime, NotNegative, Settings


class PublicationSettings(Settings):
    """Every node of a group publishes these documents, the first at this time, each once."""

    group: Name
    language: Annotated[str, Field(min_length=1, max_length=40)]
    files: Annotated[tuple[str, ...], Field(min_length=1, max_length=10_000)]
    at_s: NotNegative = 0.0
    every_s: Annotated[float, Field(ge=0.001, le=365 * 86_400)] = 60.0
    lifetime_s: NotificationLifetime | None = None
    """How long each document lives; if left out, as long as it says, else as its event class says."""

"""Explains a subscription in words, optionally for values or for a publication."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dens.app.errors import BadArgument
from dens.app.subscriptions.subscription import Subscription

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable
    from plugins.authoring import Picture


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation: as lines of text (also `str()`), as plain data, and as a picture if the language has
    one.
    """

    lines: tuple[str, ...]
    document: Mapping[str, Any] = field(repr=False)
    _draw: "Callable[[], Picture] | None" = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def picture(self) -> "Picture | None":
        """Draw the subscription; None if its language draws no pictures."""
        return None if self._draw is None else self._draw()


def explain(
    subscription: Subscription | str | Path | bytes,
    values: Mapping[str, object] | None = None,
    vocabularies: "MissionTable | None" = None,
    *,
    publication: Path | None = None,
    age_s: int = 0,
) -> Explanation:
    """Explain a subscription, and whether an event with these values satisfies it.

    Degrees are computed by the code that runs on boards. `publication` is a document to explain instead of
    values, in languages that have publications; `age_s` is the age of the event.
    """
    from dens.app.subscriptions.languages import publication_in
    from dens.app.subscriptions.subscription import compile
    from dens.app.tables import load_vocabularies
    from plugins.registry import authoring_of, language, offered

    table = load_vocabularies() if vocabularies is None else vocabularies
    given = subscription if isinstance(subscription, Subscription) else compile(subscription, table)
    spoken = language(given.language_id)
    authoring = authoring_of(spoken)
    explain_values = offered(authoring.explain, spoken, "explanations")
    if publication is not None and values:
        raise BadArgument("give values or a publication, not both", "--publication")
    if publication is None:
        texts = {name: str(value) for name, value in (values or {}).items()}
        found = explain_values(given.vector, table, texts, age_s)
    else:
        notification = publication_in(publication, spoken, table)
        explain_notification = offered(authoring.explain_notification, spoken, "explanations of publications")
        found = explain_notification(given.vector, table, notification)
    draw = authoring.picture
    return Explanation(
        (*found.lines(), *(f"note: {remark}" for remark in given.remarks)),
        {**found.as_document(), "remarks": list(given.remarks)},
        None if draw is None else partial(draw, given.vector, table, given.compiled),
    )

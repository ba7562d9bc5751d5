"""Probability that a state is followed by a match within the horizon: counted directly, or by a Markov chain.

β(mask, b) = (completions within the horizon + κ·r) / (visits + κ), with r the overall rate and b the power of
two of the readings in this state. Visits whose horizon exceeds the data are excluded and counted. A model
belongs to one subscription, which it identifies by its meaning.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from plugins.composite.bounds import PRIOR_WEIGHT, WAIT_CLASSES
from plugins.composite.vectors import DURATION, READINGS, CompositeBody, Prediction, encode_body
from watchdog.lifetime import lifetime_s

FORMAT: Final = "dens composite model 1"
MOST_STATES: Final = 255


class BadModel(ValueError):
    """A file is not a model, or not one for this subscription."""


def wait_class(readings: int) -> int:
    """Return b = ⌊log₂(readings in this state + 1)⌋, at most the last class.

    >>> [wait_class(n) for n in (0, 1, 2, 3, 7, 1000)]
    [0, 1, 1, 2, 3, 7]
    """
    return min((readings + 1).bit_length() - 1, WAIT_CLASSES - 1)


def beta_byte(beta: float | Fraction) -> int:
    """Return β as a byte, rounded down."""
    return int(255 * beta + Fraction(1, 10**9)) if isinstance(beta, Fraction) else int(255 * beta + 1e-9)


def subject_of(body: CompositeBody, feature_bytes: int) -> str:
    """Return what a model depends on: all of a subscription that decides when it matches."""
    bare = replace(body, stamp_s=0, keep_q=0, quiet_q=0, select="ends", prediction=None)
    return hashlib.blake2b(encode_body(bare, feature_bytes), digest_size=8).hexdigest()


@dataclass(slots=True)
class Counted:
    """Visits and completions by state and wait."""

    visits: dict[tuple[int, int], int] = field(default_factory=dict)
    completions: dict[tuple[int, int], int] = field(default_factory=dict)
    undecided: int = 0

    def note(self, mask: int, wait: int, *, completed: bool, times: int = 1) -> None:
        place = mask, wait
        self.visits[place] = self.visits.get(place, 0) + times
        if completed:
            self.completions[place] = self.completions.get(place, 0) + times

    def add(self, other: "Counted") -> None:
        for place, times in other.visits.items():
            self.visits[place] = self.visits.get(place, 0) + times
        for place, times in other.completions.items():
            self.completions[place] = self.completions.get(place, 0) + times
        self.undecided += other.undecided

    @property
    def rate(self) -> Fraction:
        """Return the share of visits that were completed in time."""
        every = sum(self.visits.values())
        return Fraction(sum(self.completions.values()), every) if every else Fraction(0)

    def beta(self, mask: int, wait: int, prior: int = PRIOR_WEIGHT) -> Fraction:
        """Return β of a state after a wait."""
        visits = self.visits.get((mask, wait), 0)
        if not visits + prior:
            return Fraction(0)
        return (self.completions.get((mask, wait), 0) + prior * self.rate) / (visits + prior)

    def table(self) -> tuple[tuple[int, bytes], ...]:
        """Return the model as encoded in a vector: the most visited states, in ascending order."""
        masks: dict[int, int] = {}
        for (mask, _), times in self.visits.items():
            masks[mask] = masks.get(mask, 0) + times
        kept = sorted(sorted(masks, key=lambda mask: (-masks[mask], mask))[:MOST_STATES])
        return tuple(
            (mask, bytes(beta_byte(self.beta(mask, wait)) for wait in range(WAIT_CLASSES))) for mask in kept
        )


@dataclass(frozen=True, slots=True)
class Model:
    """A counted model and its subject."""

    subject: str
    unit: int
    horizon: int
    counted: Counted

    def written(self) -> bytes:
        """Return it as the file that a document refers to."""
        counted = self.counted
        states = [
            {
                "state": mask,
                "visits": [counted.visits.get((mask, wait), 0) for wait in range(WAIT_CLASSES)],
                "completions": [counted.completions.get((mask, wait), 0) for wait in range(WAIT_CLASSES)],
            }
            for mask in sorted({mask for mask, _ in counted.visits})
        ]
        document = {
            "format": FORMAT,
            "subject": self.subject,
            "horizon": horizon_document(self.unit, self.horizon),
            "undecided": counted.undecided,
            "states": states,
        }
        return (json.dumps(document, indent=1) + "\n").encode()


def horizon_document(unit: int, horizon: int) -> dict[str, int]:
    """Return a horizon as JSON."""
    return {"readings": horizon} if unit == READINGS else {"seconds": lifetime_s(horizon), "code": horizon}


def read_model(source: bytes) -> Model:
    """Return the model of a file, or raise `BadModel`."""
    try:
        given = json.loads(source)
    except ValueError:
        raise BadModel("not a model; create one with dens learn composite") from None
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise BadModel("not a model of this version; create one with dens learn composite")
    counted = Counted()
    try:
        horizon = given["horizon"]
        unit = READINGS if "readings" in horizon else DURATION
        length = _whole(horizon["readings" if unit == READINGS else "code"], 255)
        counted.undecided = _whole(given["undecided"], 1 << 62)
        for state in given["states"]:
            _read_state(state, counted)
        return Model(str(given["subject"]), unit, length, counted)
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(f"damaged model ({error}); learn it again") from None


def _read_state(state: Mapping[str, Any], counted: Counted) -> None:
    mask = _whole(state["state"], 0x7FFF)
    visits, completions = state["visits"], state["completions"]
    if len(visits) != WAIT_CLASSES or len(completions) != WAIT_CLASSES:
        raise ValueError("a state has eight counts")
    for wait, (visited, completed) in enumerate(zip(visits, completions, strict=True)):
        visited, completed = _whole(visited, 1 << 62), _whole(completed, 1 << 62)
        if completed > visited:
            raise ValueError("more completions than visits")
        if visited:
            counted.note(mask, wait, completed=False, times=visited - completed)
            if completed:
                counted.note(mask, wait, completed=True, times=completed)


def _whole(number: object, most: int) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
        raise ValueError("a count is a whole number")
    return number


def chain_betas(
    transitions: Mapping[int, Mapping[int, Fraction]], states: Iterable[int], completed: int, steps: int
) -> dict[int, Fraction]:
    """Return, for each state, the probability of completion within `steps`, by a Markov chain whose rows sum
    to at most 1: βₙ(x) = Σ P(x, y)·βₙ₋₁(y), with the completed state absorbing.
    """
    betas = {state: Fraction(int(state == completed)) for state in states}
    for _ in range(steps):
        betas = {
            state: Fraction(1)
            if state == completed
            else sum(
                (
                    share * betas.get(follower, Fraction(0))
                    for follower, share in transitions.get(state, {}).items()
                ),
                Fraction(0),
            )
            for state in betas
        }
    return betas


def highest_beta(prediction: Prediction) -> int:
    """Return the highest β of a model, of 255."""
    return max((max(betas) for _, betas in prediction.model), default=0)

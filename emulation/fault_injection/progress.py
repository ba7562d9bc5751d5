"""The progress of a campaign as a file, which a later run continues: finished seeds and their results.

    {"version": 1, "campaign": "engines all", "finished": [[1, 4000]], "steps": …, "crashes": …,
     "delivered": …, "broken": [{"seed": 17, …}]}

The decoder is total: any bytes give progress of this campaign or a `DocumentError`.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from dens.config.json_documents import parse_json
from dens.config.problems import DocumentError
from dens.config.reading import refuse_large
from emulation.fault_injection.campaign import Verdict
from emulation.fault_injection.plan_file import CODE

VERSION: Final = 1
_LARGEST: Final = 16 * 1024 * 1024
_COUNTS: Final = ("steps", "crashes", "delivered")


@dataclass
class Progress:
    """The results of the finished seeds of one campaign."""

    campaign: str
    """The world, the faults and the options, which together decide what a seed means."""
    finished: set[int] = field(default_factory=set)
    steps: int = 0
    crashes: int = 0
    delivered: int = 0
    broken: list[dict[str, object]] = field(default_factory=list)

    def add(self, verdict: Verdict) -> None:
        """Add the verdict of a world."""
        self.finished.add(verdict.seed)
        self.steps += verdict.steps
        self.crashes += verdict.crashes
        self.delivered += verdict.delivered
        if not verdict.ok:
            self.broken.append(verdict.as_dict())

    def encode(self) -> bytes:
        """Return the content of the file."""
        document = {
            "version": VERSION,
            "campaign": self.campaign,
            "finished": _ranges(self.finished),
            **{name: getattr(self, name) for name in _COUNTS},
            "broken": self.broken,
        }
        return json.dumps(document, indent=1).encode() + b"\n"


def _ranges(seeds: Iterable[int]) -> list[list[int]]:
    """Return the first and the last seed of every range of consecutive seeds.

    >>> _ranges({1, 2, 3, 9})
    [[1, 3], [9, 9]]
    """
    found: list[list[int]] = []
    for seed in sorted(seeds):
        if found and found[-1][1] == seed - 1:
            found[-1][1] = seed
        else:
            found.append([seed, seed])
    return found


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _is_range(value: Any, most: int) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(map(_is_count, value))
    return is_pair and 0 <= value[1] - value[0] < most


def read_progress(content: bytes, file: str, campaign: str, most_seeds: int) -> Progress:
    """Return the progress in a file, or raise `DocumentError` if it is invalid or of another campaign."""
    refuse_large(content, file, _LARGEST)
    document = parse_json(content, file, CODE)

    def refuse(message: str) -> DocumentError:
        return DocumentError.of_file(file, CODE, message)

    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise refuse(
            f'a progress file begins with {{"version": {VERSION}, …}}; name another file, or remove this one'
        )
    if document.get("campaign") != campaign:
        raise refuse(
            f"the file is of campaign {document.get('campaign')!r}, not {campaign!r}; name another file"
        )
    finished, broken = document.get("finished"), document.get("broken")
    if (
        not isinstance(finished, list)
        or not all(_is_range(one, most_seeds) for one in finished)
        or not isinstance(broken, list)
        or not all(isinstance(one, dict) for one in broken)
        or not all(_is_count(document.get(name)) for name in _COUNTS)
    ):
        raise refuse(
            "finished has to be a list of pairs of seeds, broken a list of verdicts, and all others counts"
        )
    if sum(last - first + 1 for first, last in finished) > most_seeds:
        raise refuse(f"more than {most_seeds:,} seeds are finished")
    seeds = {seed for first, last in finished for seed in range(first, last + 1)}
    steps, crashes, delivered = (document[name] for name in _COUNTS)
    return Progress(campaign, seeds, steps, crashes, delivered, broken)

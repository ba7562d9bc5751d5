"""Seeds as a person writes them: `7`, `1..50`, `1..3,9`."""

import re
from typing import Final

MOST_RUNS: Final = 10_000
"""Seeds of one scenario at a time."""
MOST_WORLDS: Final = 1_000_000
"""Seeds of `dens torture` at a time."""
_RANGE: Final = re.compile(r"([0-9]{1,30})(?:\.\.([0-9]{1,30}))?")


def parse_seeds(text: str, most: int = MOST_RUNS) -> tuple[int, ...]:
    """Return the seeds that a text names, each once and in that order, or raise `ValueError`."""
    seeds: dict[int, None] = {}
    for part in map(str.strip, text.split(",")):
        found = _RANGE.fullmatch(part)
        if found is None:
            raise ValueError(f'"{text}" names no seeds; write 7, or 1..50, or 1..3,9')
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            raise ValueError(f'"{part}" goes backwards; write {last}..{first} to name its seeds')
        if last - first >= most:
            raise ValueError(f'"{part}" names more than {most:,} seeds')
        if last >= 2**63:
            raise ValueError(f"{last} is no seed: seeds are below 2⁶³")
        seeds.update(dict.fromkeys(range(first, last + 1)))
        if len(seeds) > most:
            raise ValueError(f'"{text}" names more than {most:,} seeds')
    return tuple(seeds)

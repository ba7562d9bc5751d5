"""Lists of seeds as users write them: `7`, `1..50`, `1..3,9`."""

import re
from typing import Final

MOST_RUNS: Final = 10_000
"""Limit of seeds for a scenario."""
MOST_WORLDS: Final = 1_000_000
"""Limit of seeds for `dens torture`."""
_RANGE: Final = re.compile(r"([0-9]{1,30})(?:\.\.([0-9]{1,30}))?")


def parse_seeds(text: str, most: int = MOST_RUNS) -> tuple[int, ...]:
    """Return the seeds in a text, each once and in order, or raise `ValueError`."""
    seeds: dict[int, None] = {}
    for part in map(str.strip, text.split(",")):
        found = _RANGE.fullmatch(part)
        if found is None:
            raise ValueError(f'"{text}" is not a list of seeds; write 7, 1..50 or 1..3,9')
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            raise ValueError(f'"{part}" goes backwards; write {last}..{first}')
        if last - first >= most:
            raise ValueError(f'"{part}" names more than {most:,} seeds')
        if last >= 2**63:
            raise ValueError(f"seed {last} is too large: seeds are below 2⁶³")
        seeds.update(dict.fromkeys(range(first, last + 1)))
        if len(seeds) > most:
            raise ValueError(f'"{text}" names more than {most:,} seeds')
    return tuple(seeds)

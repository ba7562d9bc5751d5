"""Sessions apply changes at once, or before the step they name; impossible changes are reported."""

import json
from typing import Any

from dens_experiments.session import Changes, Refused, lived


class Counting:
    def __init__(self) -> None:
        self.by = 1
        self.at = 0

    def change(self, change: Any) -> None:
        if not isinstance(change, dict) or "by" not in change:
            raise Refused("say by")
        self.by = change["by"]

    def step(self) -> dict[str, Any]:
        self.at += self.by
        return {"at": self.at}


def test_changes_come_before_the_step_that_they_name() -> None:
    changes, waited = Changes(), []
    for line in ({"at": 3, "by": 10}, {"by": 2}):
        changes.write(json.dumps(line) + "\n")
    told = list(lived(Counting(), changes, 4, lambda: waited.append(1)))
    assert told == [{"at": 2}, {"at": 4}, {"at": 14}, {"at": 24}]
    assert len(waited) == 3


def test_invalid_changes_are_reported_and_change_nothing() -> None:
    changes = Changes()
    for line in ("nonsense", "[1]", '{"x": 1}', '{"at": 0, "by": 5}', '{"at": true, "by": 5}', " "):
        changes.write(line)
    told = list(lived(Counting(), changes, 2, lambda: None))
    assert [one["refused"] for one in told if "refused" in one] == [
        "this line is not JSON",
        "say by",
        "say by",
        "at is the number of a step, from 1 on",
        "at is the number of a step, from 1 on",
    ]
    assert [one for one in told if "at" in one] == [{"at": 1}, {"at": 2}]


def test_lines_are_heard_while_it_runs() -> None:
    changes = Changes()
    changes.listen(iter(['{"by": 7}\n']))
    told = lived(Counting(), changes, None, lambda: None)
    assert any(next(told)["at"] >= 7 for _ in range(100_000))

"""A broken interpreter is reported with its output."""

import sys

import pytest

from dens_experiments.family import Request, UnknownFigure
from dens_experiments.fuzzy.family import FAMILY
from dens_experiments.fuzzy.runtimes import RuntimeFailed, ran, with_watchdog


@pytest.mark.parametrize(("command", "says"), [("false", "printed nothing"), ("no-such-command", "no-such")])
def test_an_interpreter_that_does_not_work_is_named(command: str, says: str) -> None:
    with pytest.raises(RuntimeFailed, match=says):
        ran([command], "print('done')\n")


def test_program_includes_the_watchdog_and_reports_processor_time() -> None:
    program = (
        "from watchdog.aggregate import aggregate\nprint(aggregate(0, b'\\x03\\x05', 2))\nprint('done')\n"
    )
    said, seconds = ran([sys.executable], with_watchdog(program))
    assert said.splitlines() == ["3", "done"]
    assert seconds > 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('a "b', "no closing quotation"),
        ("", "not nothing"),
        ("no-such-program -x", "program 'no-such-program' is not installed"),
    ],
)
def test_a_command_that_is_none_is_refused_before_anything_is_measured(text: str, says: str) -> None:
    with pytest.raises(UnknownFigure, match=says):
        FAMILY.chosen(["fig7e"], Request(on=(text,)))

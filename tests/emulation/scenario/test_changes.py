"""Keys changed from outside mean the same as keys changed in the file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from emulation.scenario import load_scenario

WriteScenario = Callable[..., Path]


@pytest.mark.parametrize(
    ("change", "in_file"),
    [
        ("group[1].count=7", ('"mediator"\ncount = 3', '"mediator"\ncount = 7')),
        ("group.helpers.count=7", ('"mediator"\ncount = 3', '"mediator"\ncount = 7')),
        ("group.medics.mobility.pause_s=[1, 2]", ("pause_s = [0, 30]", "pause_s = [1, 2]")),
        ("duration_s = 12.5", ("duration_s = 3600", "duration_s = 12.5")),
        ("overlay.policy=prophet", ("seed = 5", 'seed = 5\noverlay.policy = "prophet"')),
        ("overlay.limits.receipts=9", ("seed = 5", "seed = 5\noverlay.limits = { receipts = 9 }")),
        ('title="a = b"', ("seed = 5", 'seed = 5\ntitle = "a = b"')),
        ("subscription[0].at_s=90", ('"fever.xml"', '"fever.xml"\nat_s = 90')),
    ],
)
def test_a_change_is_the_same_as_another_file(
    write_scenario: WriteScenario, change: str, in_file: tuple[str, str]
) -> None:
    by_file = load_scenario(write_scenario(in_file)).settings
    assert load_scenario(write_scenario(), [change]).settings == by_file
    assert load_scenario(write_scenario()).settings != by_file


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("group[9].count=7", r"\[9\] is out of range: the file has 3"),
        ("group.helprs.count=7", 'unknown group "helprs"; did you mean "helpers"'),
        ("group.medics.count=0", "^--set group.medics.count=0: error D302: group.0..count: "),
        ("group.medics=3", "group.0.: a table is wanted"),
        ("sensor.patients.every_s=7", r"entries of sensor have no name; use the number, such as sensor\[0\]"),
        ("count", "is not of the form path=value"),
        ("=3", "is not of the form path=value"),
        ("..seed=3", "is not of the form path=value"),
        ("seed.more=3", "is not inside a table"),
        ("sead=3", 'key "sead" is unknown; did you mean "seed"'),
        ("radio.handheld.loss=2", "radio.handheld.loss: input should be less than 1"),
        (
            "radio.handheld.frame_bytes=-1",
            "frame_bytes=-1: error D302: radio.handheld.frame_bytes: input should",
        ),
        ("overlay.limits.hello_ms=0", "error D302: overlay.limits.hello_ms: input should be greater than 0"),
        (
            'group.patients.mobility={ model = "static", places_m = [[1, 2], [-3, 2], [1, 1]] }',
            r"error D302: group.2..mobility.places_m.1..0.: input should be greater than or equal to 0",
        ),
        (
            "area={ width_m = 1e-6, height_m = 1e-6 }",
            "group.1..mobility: a node would turn about .e.* times in 3600 s; use a lower speed",
        ),
        (
            'group.helpers.mobility={ model = "gauss_markov", speed_m_per_s = 1, step_s = 1e-3 }',
            "step_s: input should be greater than or equal to 0.1",
        ),
        (
            'fault=[{ kind = "crash", every_s = 1e-300, for_s = 1 }]',
            "every_s: input should be greater than or",
        ),
        ("sensor[0].every_s=1e300", "sensor.0..every_s: input should be less than or equal to 31536000"),
        ("overlay.policy=prophte", 'did you mean "prophet"'),
        ("nope=1", '^--set nope=1: error D301: key "nope" is unknown'),
        ("area.width_m=0", "^--set area.width_m=0: error D302: area.width_m: input should be greater"),
        ("radio.far.loss=0.1", '^--set radio.far.loss=0.1: error D303: key "range_m" is missing'),
        ("group[0].radio=far", "^--set group.0..radio=far: error D305: group.0..radio: "),
        ("seed=1\nname=x", "has more than one line"),
        ("duration_s=true", "duration_s: input should be a valid number"),
        ('seed="1"', "seed: input should be a valid integer"),
        ('group[0].mobility.pause_s=[0, "3"]', "pause_s.1.: input should be a valid number"),
        (
            'overlay.limits.receipts="9"',
            "error D302: overlay.limits.receipts: input should be a valid integer",
        ),
        ("radio.handheld.half_duplex=1", "half_duplex=1: error D302: .*input should be a valid boolean"),
        ("group=3", "group: a list is wanted"),
        ("area=[]", "area: a table is wanted"),
    ],
)
def test_a_change_that_cannot_be_is_refused(write_scenario: WriteScenario, change: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        load_scenario(write_scenario(), [change])

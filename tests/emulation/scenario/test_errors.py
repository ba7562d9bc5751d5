"""All errors of a scenario are reported at once: file, line, column, key, and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from emulation.scenario import check_scenario_file, load_scenario
from tests.paths import ROOT

WriteScenario = Callable[..., Path]
Changes = list[tuple[str, str]]

GOLDEN = Path(__file__).parent / "golden"
TRIAGE = ROOT / "emulation/scenarios/triage"
GENERATED = 'source = { generator = "vital_signs", deteriorating = 1.0 }'
PLACES = '"static", places_m = [[1, 2], [601, 2]] }'

PUBLICATION = '[[publication]]\ngroup = "patients"\nlanguage = "fuzzy"\nfiles = ["bridge.xml"]\n'
POPULATION = '[[population]]\ngroup = "medics"\nevent = "patient"\nnumber = 4\n'


def with_csv(columns: str, more: str = "") -> tuple[str, str]:
    return GENERATED, f'source = {{ csv = "d.csv", time_column = "t", columns = {columns}{more} }}'


def with_error(errors: str) -> tuple[str, str]:
    return GENERATED, f"{GENERATED}\nerror = {{ {errors} }}"


def zone(kind: str, corners: str) -> str:
    return f'[[zone]]\nkind = "{kind}"\ncorners_m = [{corners}]\n\n'


CHEAP = (
    '<subscription xmlns="urn:dens:approximate:1" event="apartment">'
    '<crisp-predicate attribute="rent" operator="le">1500</crisp-predicate></subscription>'
)

CASES: dict[str, Changes] = {
    "a_misspelt_key": [("count = 2", "cuont = 2")],
    "a_missing_key": [("duration_s = 3600\n", "")],
    "values_out_of_range": [
        ("width_m = 400", "width_m = 0"),
        ("loss = 0.05", "loss = 1.0"),
        ("[1.0, 2.0]", "[-1.0, 2.0]"),
    ],
    "a_misspelt_key_of_a_model": [("pause_s", "paus_s")],
    "misspelt_keys_of_sources": [with_csv('{ patient_temperature = "tmp" }', ', mising = ["x"]')],
    "a_misspelt_key_of_a_generator": [("deteriorating", "deterioratng")],
    "an_unknown_generator": [('"vital_signs"', '"vital_sings"')],
    "an_unknown_model": [('"static"', '"statik"')],
    "errors_that_a_sensor_cannot_have": [
        with_error(
            "patient_temperature = { interval = 0.001 }, heart_rat = { interval = 1 }, "
            "ward = { triangular = 1 }, respiration_rate = { triangular = 900 }"
        ),
    ],
    "errors_of_what_is_not_measured": [
        with_csv('{ patient_temperature = "tmp" }'),
        ("every_s = 30", "every_s = 30\nerror = { heart_rate = { interval = 1 } }"),
    ],
    "errors_of_no_form_and_of_two": [
        with_error(
            "heart_rate = {}, patient_temperature = { interval = 1, triangular = 1 }, "
            "oxygen_saturation = { interval = -1 }"
        ),
    ],
    "least_above_most": [("[1.0, 2.0]", "[3.0, 2.0]")],
    "an_infinite_run": [("duration_s = 3600", "duration_s = inf")],
    "names_of_nothing": [
        ('group = "medics"', 'group = "medic"'),
        ('radio = "handheld"', 'radio = "handhold"'),
    ],
    "a_name_twice": [('name = "helpers"', 'name = "medics"')],
    "the_wrong_role": [('group = "patients"', 'group = "helpers"')],
    "an_unknown_subscription_language": [
        ("[[sensor]]", f'{POPULATION}language = "fuzy"\n\n[[sensor]]'),
    ],
    "workloads_in_a_language_that_nobody_writes": [
        ("[[sensor]]", f'{POPULATION}language = "direct"\n\n[[sensor]]'),
    ],
    "names_that_no_matching_has": [
        ("[radio.handheld]", '[overlay]\nmatcher = "fnic"\ncondition = "exakt"\n\n[radio.handheld]'),
        ('role = "mediator"', 'role = "mediator"\nmatcher = "fastest"'),
    ],
    "a_matcher_that_does_not_serve_what_is_asked": [
        ("[radio.handheld]", '[overlay]\nmatcher = "bfcpab"\n\n[radio.handheld]'),
        ("[[sensor]]", f'{POPULATION}aggregator = "product"\n\n[[sensor]]'),
    ],
    "an_aggregator_that_no_language_has": [
        ("[[sensor]]", f'{POPULATION}aggregator = "geometric_maen"\n\n[[sensor]]'),
    ],
    "a_pattern_for_another_number_of_attributes": [
        (
            "[[sensor]]",
            f'{POPULATION}attributes = [3, 3]\naggregator = "pattern_exact"\nform = "d2c2c"\n\n[[sensor]]',
        ),
    ],
    "a_pattern_for_several_numbers_of_attributes": [
        ("[[sensor]]", f'{POPULATION}aggregator = "pattern_breakdown"\nform = "d2c1"\n\n[[sensor]]'),
    ],
    "a_form_that_is_missing": [
        ("[[sensor]]", f'{POPULATION}attributes = [2, 3]\naggregator = "takagi_sugeno_1"\n\n[[sensor]]'),
    ],
    "a_form_that_is_too_much": [
        ("[[sensor]]", f'{POPULATION}form = "d2c1"\n\n[[sensor]]'),
    ],
    "a_matcher_of_those_who_match_nothing": [
        ('role = "publisher"', 'role = "publisher"\nmatcher = "fnif"'),
    ],
    "documents_that_no_language_has": [
        ("[[sensor]]", f"{PUBLICATION}\n[[sensor]]"),
    ],
    "documents_of_boards": [
        ("[[sensor]]", f"{PUBLICATION}\n[[sensor]]"),
        ('name = "patients"', 'name = "patients"\nboard = "tag"'),
        ("[radio.handheld]", '[board.tag]\nprofile = "microbit"\n\n[radio.handheld]'),
    ],
    "an_algorithm_that_a_board_has_no_room_for": [
        ('name = "patients"', 'name = "patients"\nboard = "tag"'),
        ("[radio.handheld]", '[board.tag]\nprofile = "microbit"\nalgorithm = "fnifc"\n\n[radio.handheld]'),
    ],
    "a_routing_that_there_is_not": [("seed = 5", 'seed = 5\noverlay.routing = "brokr"')],
    "keys_of_brokers_that_there_are_not": [
        ("seed = 5", 'seed = 5\noverlay = { routing = "broker", broker = { patience = 3, covering = 1 } }'),
        ("[radio.handheld]", '[links]\nkind = "ring"\ndegree = 0\n\n[radio.handheld]'),
    ],
    "links_that_cannot_be": [
        (
            "[radio.handheld]",
            '[contacts]\nfile = "w.txt"\n\n[links]\nkind = "tree"\ndegree = 1.5\n\n[radio.handheld]',
        ),
        ('role = "mediator"', 'role = "publisher"'),
    ],
    "more_links_than_mediators": [
        ("[radio.handheld]", '[links]\nkind = "random"\ndegree = 7\n\n[radio.handheld]'),
    ],
    "brokers_in_circles_without_advertisements": [
        ("seed = 5", 'seed = 5\noverlay = { routing = "broker", broker = { advertisements = false } }'),
        ("[radio.handheld]", '[links]\nkind = "grid"\n\n[radio.handheld]'),
    ],
    "brokers_that_move_without_advertisements": [
        ("seed = 5", 'seed = 5\noverlay = { routing = "broker", broker = { advertisements = false } }'),
    ],
    "boards_among_brokers": [
        ("seed = 5", 'seed = 5\noverlay.routing = "broker"'),
        ('name = "patients"', 'name = "patients"\nboard = "tag"'),
        ("[radio.handheld]", '[board.tag]\nprofile = "microbit"\n\n[radio.handheld]'),
    ],
    "composites_among_brokers": [
        ("seed = 5", 'seed = 5\noverlay.routing = "broker"'),
        ('file = "fever.xml"', 'file = "sinking.xml"'),
        ("[[sensor]]", '[[advertisement]]\ngroup = "patients"\nfile = "fever.xml"\n\n[[sensor]]'),
    ],
    "composites_among_those_who_flood": [
        ("seed = 5", 'seed = 5\noverlay.routing = "flood"'),
        ('file = "fever.xml"', 'file = "sinking.xml"'),
        ("[[sensor]]", '[[advertisement]]\ngroup = "patients"\nfile = "fever.xml"\n\n[[sensor]]'),
    ],
    "parts_that_are_damped_and_predictions_of_nobody": [
        ('file = "fever.xml"', 'file = "sinking.xml"'),
        ('name = "patients"', 'name = "patients"\nboard = "tag"\ndamping = { interval_s = 300 }'),
        ("[radio.handheld]", '[board.tag]\nprofile = "microbit"\n\n[radio.handheld]'),
    ],
    "what_only_brokers_use": [
        ("seed = 5", "seed = 5\noverlay.broker.patience_s = 5"),
        ("[radio.handheld]", '[links]\nkind = "star"\ndegree = 2\n\n[radio.handheld]'),
        ("[[sensor]]", '[[advertisement]]\ngroup = "patients"\nfile = "fever.xml"\n\n[[sensor]]'),
    ],
    "what_brokers_do_not_use": [
        ("seed = 5", 'seed = 5\noverlay = { routing = "broker", policy = "prophet", covering = true }'),
        ("[[sensor]]", '[[advertisement]]\ngroup = "patients"\nfile = "fever.xml"\n\n[[sensor]]'),
    ],
    "advertisements_that_cannot_be": [
        ("seed = 5", 'seed = 5\noverlay.routing = "broker"'),
        (
            "[[sensor]]",
            '[[advertisement]]\ngroup = "medics"\nfile = "fever.xml"\nat_s = 9\nwithdrawn_at_s = 9\n\n'
            '[[advertisement]]\ngroup = "patients"\nfile = "forgotten.xml"\n\n[[sensor]]',
        ),
    ],
    "a_wish_that_advertises_nothing": [
        ("seed = 5", 'seed = 5\noverlay.routing = "broker"'),
        ('["medical"]', '["medical", "housing"]'),
        ("[[sensor]]", '[[advertisement]]\ngroup = "patients"\nfile = "flat.xml"\n\n[[sensor]]'),
    ],
    "an_advertisement_of_what_nobody_measures": [
        ("seed = 5", 'seed = 5\noverlay.routing = "broker"'),
        ('["medical"]', '["medical", "housing"]'),
        ("[[sensor]]", '[[advertisement]]\ngroup = "patients"\nfile = "cheap.xml"\n\n[[sensor]]'),
    ],
    "an_unknown_forwarding_layer": [("seed = 5", 'seed = 5\nnetwork.forwarding = "shortest_pth"')],
    "no_hop_and_convergence_before_the_change": [
        (
            "seed = 5",
            'seed = 5\nnetwork = { forwarding = "shortest_path", hop_limit = 0, convergence_s = -1 }',
        ),
    ],
    "keys_of_a_network_that_forwards_nothing": [
        ("seed = 5", "seed = 5\nnetwork = { hop_limit = 3, convergence_s = 1, header_bytes = 8 }"),
    ],
    "forwarders_where_nothing_is_forwarded": [('role = "mediator"', 'role = "forwarder"')],
    "a_forwarder_that_does_something_else": [
        ("seed = 5", 'seed = 5\nnetwork.forwarding = "shortest_path"'),
        ('role = "mediator"', 'role = ["mediator", "forwarder"]'),
    ],
    "a_forwarder_that_measures": [
        ("seed = 5", 'seed = 5\nnetwork.forwarding = "shortest_path"'),
        ('role = "publisher"', 'role = "forwarder"'),
    ],
    "a_run_longer_than_anything_lives": [("duration_s = 3600", "duration_s = 5000000")],
    "an_unknown_event_class": [('event = "patient"', 'event = "patent"')],
    "a_missing_subscription": [("fever.xml", "fevr.xml")],
    "a_missing_vocabulary": [('["medical"]', '["medical", "mine.toml"]')],
    "a_misspelt_vocabulary": [('["medical"]', '["medicl"]')],
    "an_unknown_limit": [("seed = 5", "seed = 5\noverlay.limits = { notification_itms = 3 }")],
    "an_unknown_policy": [("seed = 5", 'seed = 5\noverlay.policy = "epidemik"')],
    "too_few_recorded_nodes": [('"static" }', '"recorded", file = "w.txt" }')],
    "a_group_without_room": [
        ('"static" }', '"reference_point", speed_m_per_s = [1, 2], spread_m = 150 }'),
    ],
    "ground_that_cannot_be": [
        (
            "[radio.handheld]",
            f"{zone('incident_site', '[0, 0], [9, 0], [9, 401]')}"
            f"{zone('command', '[0, 0], [9, 0], [1, 1], [0, 9]')}"
            f"{zone('hospital', '[20, 20], [30, 20], [30, 30]')}"
            "[[obstacle]]\ncorners_m = [[10, 10], [40, 10], [40, 40], [10, 40]]\n\n[radio.handheld]",
        ),
    ],
    "a_duty_without_a_zone": [
        ("[radio.handheld]", f"{zone('incident_site', '[0, 0], [9, 0], [9, 9]')}[radio.handheld]"),
        ('"static" }', '"disaster_area", duty = "casualty" }'),
    ],
    "a_duty_without_a_way": [
        (
            "[radio.handheld]",
            f"{zone('incident_site', '[0, 0], [9, 0], [9, 9]')}"
            f"{zone('treatment', '[300, 0], [309, 0], [309, 9]')}"
            "[[obstacle]]\ncorners_m = [[100, 0], [140, 0], [140, 300], [100, 300]]\n\n[radio.handheld]",
        ),
        ('"static" }', '"disaster_area", duty = "bearer" }'),
    ],
    "an_unknown_duty": [('"static" }', '"disaster_area", duty = "nurse" }')],
    "fault_that_cannot_be": [
        (
            "[radio.handheld]",
            '[[fault]]\nkind = "crash"\nwho = ["helpers-4", "medic"]\n\n'
            '[[fault]]\nkind = "crash"\nevery_s = 9\n\n'
            '[[fault]]\nkind = "partition"\nwho = ["medics"]\nat_s = 4000\n\n[radio.handheld]',
        ),
        ('role = "mediator"', 'role = "mediator"\nenergy = "coin"\nboard = "pico"'),
    ],
    "an_unknown_fault": [("[radio.handheld]", '[[fault]]\nkind = "crush"\n\n[radio.handheld]')],
    "a_misspelt_key_of_a_fault": [
        ("[radio.handheld]", '[[fault]]\nkind = "loss"\nshar = 0.5\n\n[radio.handheld]')
    ],
    "a_key_of_another_fault": [
        ("[radio.handheld]", '[[fault]]\nkind = "crash"\nat_s = 5\nshare = 0.5\n\n[radio.handheld]')
    ],
    "controls_that_cannot_be": [
        (
            "[radio.handheld]",
            '[[control]]\nat_s = 1\npath = "area.width_m"\nvalue = 3\n\n'
            '[[control]]\nat_s = 1\npath = "radio.handheld.los"\nvalue = 0.1\n\n'
            '[[control]]\nat_s = 1\npath = "radio.handheld.range_m"\nvalue = -5\n\n'
            '[[control]]\nat_s = 1\npath = "radio.handhold.loss"\nvalue = 0.3\n\n'
            '[[control]]\nat_s = 4000\npath = "radio.handheld.loss"\nvalue = 3\n\n'
            '[[control]]\nat_s = 1\npath = "sensor[1].every_s"\nvalue = 3\n\n'
            '[[control]]\nat_s = 1\npath = "sensor[0].every_s"\nvalue = 0\n\n[radio.handheld]',
        )
    ],
    "two_controls_of_one_moment": [
        (
            "[radio.handheld]",
            '[[control]]\nat_s = 1\npath = "radio.handheld.loss"\nvalue = 0.1\n\n'
            '[[control]]\nat_s = 1\npath = "radio.handheld.range_m"\nvalue = 5\n\n'
            '[[control]]\nat_s = 1.0004\npath = "radio.handheld.loss"\nvalue = 0.2\n\n[radio.handheld]',
        )
    ],
    "what_nobody_uses": [
        (
            "[radio.handheld]",
            "[energy.coin]\nbattery_j = 9\n\n[board.pico]\n\n"
            f"{zone('incident_site', '[0, 0], [9, 0], [9, 9]')}"
            "[[obstacle]]\ncorners_m = [[10, 10], [40, 10], [40, 40]]\n\n"
            "[radio.mast]\nrange_m = 500\nrate_bytes_per_s = 25000\n\n[radio.handheld]",
        ),
        ('role = "mediator"', 'role = "mediator"\ndamping = { interval_s = 9 }'),
    ],
    "what_does_not_fit": [
        ("setup_ms = 100", "setup_ms = 5000\nleast_contact_s = 1e9"),
        ("duration_s = 3600", "duration_s = 5"),
        ('file = "fever.xml"', 'file = "fever.xml"\nat_s = 3600'),
        ('"static" }', PLACES),
    ],
    "not_toml": [("seed = 5", "seed =")],
    "an_unknown_attribute": [with_csv('{ hart_rate = "hr" }')],
    "another_dimension": [
        with_csv('{ patient_temperature = "tmp" }', ', units = { patient_temperature = "kg", hr = "bpm" }')
    ],
    "a_missing_column": [with_csv('{ patient_temperature = "temp" }')],
    "a_generator_that_does_not_know_the_event": [
        ('["medical"]', '["weather"]'),
        ('event = "patient"', 'event = "weather"'),
        ('[[subscription]]\ngroup = "medics"\nfile = "fever.xml"\n', ""),
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_scenario_errors_match_the_golden_files(
    write_scenario: WriteScenario, case: str, pytestconfig: pytest.Config
) -> None:
    path = write_scenario(*CASES[case])
    (path.parent / "d.csv").write_text("t,tmp\n0,37\n")
    (path.parent / "w.txt").write_text("0 1 2\n")
    (path.parent / "flat.xml").write_bytes((ROOT / "docs/examples/apartment.xml").read_bytes())
    (path.parent / "cheap.xml").write_text(CHEAP)
    (path.parent / "sinking.xml").write_bytes((TRIAGE / "warning.xml").read_bytes())
    (path.parent / "warning.model").write_bytes((TRIAGE / "warning.model").read_bytes())
    said = "".join(f"{problem}\n" for problem in check_scenario_file(path)).replace(f"{path.parent}/", "")
    golden = GOLDEN / f"{case}.txt"
    if pytestconfig.getoption("--renew-golden", default=False):
        golden.write_text(said)
    assert said == golden.read_text()
    assert said


@pytest.mark.parametrize("case", CASES)
def test_every_fix_removes_its_problem(case: str, write_scenario: WriteScenario) -> None:
    path = write_scenario(*CASES[case])
    (path.parent / "d.csv").write_text("t,tmp\n0,37\n")
    (path.parent / "w.txt").write_text("0 1 2\n")
    (path.parent / "flat.xml").write_bytes((ROOT / "docs/examples/apartment.xml").read_bytes())
    (path.parent / "cheap.xml").write_text(CHEAP)
    (path.parent / "sinking.xml").write_bytes((TRIAGE / "warning.xml").read_bytes())
    (path.parent / "warning.model").write_bytes((TRIAGE / "warning.model").read_bytes())
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    for problem in check_scenario_file(path):
        if "did you mean" in problem.message and problem.file == str(path):
            assert problem.fixes, problem
        for fix in problem.fixes:
            assert fix.span.line == fix.span.end_line
            line = lines[fix.span.line - 1]
            mended = line[: fix.span.column - 1] + fix.replacement + line[fix.span.end_column - 1 :]
            path.write_text("".join([*lines[: fix.span.line - 1], mended, *lines[fix.span.line :]]))
            assert problem not in check_scenario_file(path)


def test_what_a_change_says_is_not_fixed_in_the_file(write_scenario: WriteScenario) -> None:
    with pytest.raises(DocumentError) as refused:
        load_scenario(write_scenario(), ["group[0].radio=handhold"])
    [problem] = refused.value.problems
    assert "did you mean" in problem.message
    assert (problem.span, problem.fixes) == (None, ())


def test_problems_of_all_files_come_together(write_scenario: WriteScenario) -> None:
    path = write_scenario(with_csv('{ patient_temperature = "temp" }'))
    (path.parent / "fever.xml").write_text("<subscription")
    (path.parent / "d.csv").write_text("t,tmp\n0,37\n")
    files = {problem.file.rpartition("/")[2] for problem in check_scenario_file(path)}
    assert files == {"fever.xml", "d.csv"}


def test_a_list_whose_only_entry_is_wrong_is_not_called_short(write_scenario: WriteScenario) -> None:
    path = write_scenario()
    text = path.read_text()
    first, second = text.index("[[group]]"), text.index("[[group]]", text.index("[[group]]") + 1)
    one_group = text[:first] + text[first:second].replace("mobility =", "mobilty =")
    path.write_text(one_group)
    said = [problem.message for problem in check_scenario_file(path)]
    assert sorted(said) == [
        'key "group[0].mobilty" is unknown; did you mean "mobility"?',
        'key "mobility" is missing in group[0]',
    ]


@pytest.mark.parametrize("ids", ["[1, 99]", "[0, 2]", "[3, 2]"])
def test_ids_outside_of_the_recording_are_refused(write_scenario: WriteScenario, ids: str) -> None:
    contacts = f'[contacts]\nfile = "met.txt"\nids = {ids}\n\n[radio.handheld]'
    path = write_scenario(("[radio.handheld]", contacts))
    (path.parent / "met.txt").write_text("1 CONN 1 2 up\n2 CONN 1 2 down\n3 CONN 2 4 up\n")
    [problem] = check_scenario_file(path)
    assert problem.code == "D312"
    assert problem.message.endswith("is not within the recording: its ids are 1 to 4")
    path.write_text(path.read_text().replace(ids, "[1, 3]"))
    assert check_scenario_file(path) == []


def test_who_met_on_record_needs_no_mobility(write_scenario: WriteScenario) -> None:
    walks = 'mobility = { model = "random_waypoint", speed_m_per_s = [2.0, 4.0] }\n'
    recorded = '[contacts]\nfile = "met.txt"\n\n[radio.handheld]'
    path = write_scenario(("[radio.handheld]", recorded), (walks, ""))
    (path.parent / "met.txt").write_text("1 CONN 1 2 up\n2 CONN 1 2 down\n")
    assert check_scenario_file(path) == []
    [standing] = [group for group in load_scenario(path).settings.group if group.name == "helpers"]
    assert standing.mobility.model == "static"
    [problem] = check_scenario_file(write_scenario((walks, "")))
    assert str(problem).endswith('error D303: key "mobility" is missing in group[1]')


def test_missing_file_and_missing_name_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"D001: file not found"):
        load_scenario(tmp_path / "none.toml")
    with pytest.raises(DocumentError, match=r'rescu: error D304: .*did you mean "rescue"'):
        load_scenario("rescu")


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    root = ROOT
    named = ("D3[0-2]*.md", "D36[1-9].md")
    pages = {page.stem for one in named for page in (root / "docs" / "errors").glob(one)}
    source = "".join(path.read_text() for path in (root / "emulation").rglob("*.py"))
    numbers = [*range(300, 330), *range(361, 370)]
    assert pages == {f"D{number}" for number in numbers if f'"D{number}"' in source}

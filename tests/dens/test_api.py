"""The public API: `import dens`, and the examples of docs/reference/api.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import dens
from tests.paths import ROOT

FEVER = """<subscription xmlns="urn:dens:subscription:1" event="patient">
  <crisp-predicate attribute="patient_temperature" operator="ge">39</crisp-predicate>
</subscription>"""
PATIENT = ROOT / "docs" / "examples" / "patient.xml"
MAX_MODULES = 20


def test_import_loads_no_other_module_of_ours_and_hardly_any_other() -> None:
    probe = (
        "import sys; before = set(sys.modules); import dens; dir(dens)\nprint(*set(sys.modules) - before)\n"
    )
    ended = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    loaded = ended.stdout.split()
    assert len(loaded) < MAX_MODULES
    assert [name for name in loaded if name.startswith("dens.")] == []


def test_every_public_name_exists_and_is_listed() -> None:
    assert dens.__all__ == sorted(dens.__all__, key=lambda name: (name[0].islower(), name))
    for name in dens.__all__:
        assert getattr(dens, name).__name__ == name
        assert name in dir(dens)
    with pytest.raises(AttributeError, match="no attribute 'Mediator'"):
        dens.Mediator  # noqa: B018


def test_type_checkers_see_the_same_names() -> None:
    text = (ROOT / "dens" / "__init__.py").read_text()
    imported = re.findall(r"^    from [\w.]+ import (.+)$", text, re.MULTILINE)
    assert sorted(name for line in imported for name in line.split(", ")) == sorted(dens.__all__)


def test_compile_accepts_paths_and_text_and_gives_the_same_bytes() -> None:
    table = dens.load_vocabularies("medical")
    text = PATIENT.read_text()
    compiled = [dens.compile(source, table) for source in (PATIENT, str(PATIENT), text, text.encode())]
    assert len({one.vector for one in compiled}) == 1
    assert [one.file for one in compiled] == [str(PATIENT), str(PATIENT), "<text>", "<text>"]
    first = compiled[0]
    assert (first.language, first.warnings, first.vector[3:]) == ("fuzzy", (), first.body)
    revised = dens.compile(PATIENT, table, id=7, revision=3)
    assert (revised.id, revised.revision, revised.body) == (7, 3, first.body)


def test_errors_have_all_problems_with_places() -> None:
    wrong = FEVER.replace("patient_temperature", "patient_temprature").replace("39", "hot")
    with pytest.raises(dens.DocumentError) as error:
        dens.compile(wrong, dens.load_vocabularies("medical"))
    places = [(one.file, one.line, one.code) for one in error.value.problems]
    assert places == [("<text>", 2, "D103")]


def test_match_readings_and_vectors_give_the_same_degrees() -> None:
    table = dens.load_vocabularies("medical")
    subscriptions = [dens.compile(PATIENT, table), dens.compile(FEVER, table)]
    sick = {"patient_temperature": 40.1, "heart_rate": 134, "oxygen_saturation": 88}
    well = {"patient_temperature": 36.8, "heart_rate": 71, "oxygen_saturation": 98}
    both, none = dens.match(subscriptions, [sick, well], table)
    assert [(one.subscription, one.degree) for one in both] == [(one, 1.0) for one in subscriptions]
    assert none == ()
    notification = bytes.fromhex("00015f0001f0ac7ec2010b")
    [found] = dens.match(subscriptions, [notification], table)
    assert found == both
    assert dens.match(subscriptions[1], [{"event": "patient", "patient_temperature": 41}], table) != [()]


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"heart_rat": 70}, 'D354: patient has no attribute "heart_rat"'),
        ({"heart_rate": "fast?"}, "D352"),
        ({"heart_rate": 9_000}, "D353"),
        ({"heart_rate": 70, "time_s": "now"}, "time_s is a number of seconds, not 'now'"),
    ],
)
def test_invalid_readings_are_refused(reading: dict[str, object], message: str) -> None:
    table = dens.load_vocabularies("medical")
    with pytest.raises(dens.DocumentError, match=re.escape(message)):
        dens.match(dens.compile(FEVER, table), [reading], table)


def test_explain_answers_for_values() -> None:
    values = {"patient_temperature": 40.1, "heart_rate": 134, "oxygen_saturation": 88}
    explanation = dens.explain(PATIENT, values)
    assert "patient_temperature = 40.1" in str(explanation)
    assert (explanation.document["bytes"], explanation.document["matches"]) == (17, True)
    assert explanation.picture is not None
    assert explanation.picture.svg().startswith("<")


def test_check_returns_problems(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.xml", tmp_path / "bad.xml"
    good.write_text(FEVER)
    bad.write_text(FEVER.replace("39", "hot"))
    result = dens.check(tmp_path)
    assert (result.files, result.failed, result.ok) == ((bad, good), (str(bad),), False)
    assert dens.check(good).ok


def test_run_is_reproducible_and_can_be_opened(tmp_path: Path) -> None:
    changes = {"duration_s": 900, "group.medics.count": 3}
    first = dens.run("rescue", seed=3, out=tmp_path / "one", set=changes)
    again = dens.run("rescue", 3, tmp_path / "two", changes)
    assert first.summary == again.summary
    assert first.summary["seed"] == 3
    opened = dens.open_run(tmp_path / "one")
    assert opened.summary == first.summary
    assert opened.table("contacts").equals(again.table("contacts"))
    assert opened.metrics.keys() >= {"delivery_ratio", "recall"}
    with pytest.raises(Exception, match='no table "contact"'):
        opened.table("contact")
    with pytest.raises(Exception, match=r"is (no|not a) run"):
        dens.open_run(tmp_path)


def test_unknown_scenario_keys_are_refused(tmp_path: Path) -> None:
    with pytest.raises(dens.DocumentError, match="duration"):
        dens.run("rescue", out=tmp_path / "run", set={"duration": 5})
    assert not (tmp_path / "run").exists()


def drive(nodes: dict[int, dens.Node], now_ms: int, until_ms: int) -> list[dens.NotificationDelivered]:
    delivered: list[dens.NotificationDelivered] = []
    while now_ms <= until_ms:
        sent = [(peer, data, number) for number, node in nodes.items() for peer, data in node.advance(now_ms)]
        for peer, data, sender in sent:
            nodes[peer].receive(data, sender, now_ms)
        for node in nodes.values():
            delivered += [one for one in node.events() if isinstance(one, dens.NotificationDelivered)]
        if not sent:
            timers = [at_ms for node in nodes.values() if (at_ms := node.next_timer_ms()) is not None]
            now_ms = max(now_ms + 1, min(timers, default=until_ms + 1))
    return delivered


def test_nodes_deliver_also_after_a_restart_from_the_store(tmp_path: Path) -> None:
    table = dens.load_vocabularies("medical")
    measures = {"patient": ("patient_temperature",)}
    mediator = dens.Node(1, table, store=tmp_path / "mediator.sqlite")
    bed = dens.Node(3, table, "publisher", measures=measures)
    medic = dens.Node(2, table, "subscriber")
    nodes = {1: mediator, 2: medic, 3: bed}
    for peer in (2, 3):
        nodes[peer].contact_opened(1, 0)
        mediator.contact_opened(peer, 0)
    medic.subscribe(dens.compile(FEVER, table), 0)
    assert drive(nodes, 0, 1_000) == []
    medic.contact_lost(1, 1_000)
    mediator.contact_lost(2, 1_000)
    assert [bed.measure({"patient_temperature": value}, 1_000) for value in (36.8, 40)] == [0, 1]
    assert drive(nodes, 1_000, 2_000) == []
    mediator.close()
    nodes[1] = dens.Node(1, table, store=tmp_path / "mediator.sqlite", now_ms=3_000)
    medic.contact_opened(1, 3_000)
    nodes[1].contact_opened(2, 3_000)
    [delivery] = drive(nodes, 3_000, 5_000)
    assert delivery.item.origin == 3
    nodes[1].close()


def test_roles_are_enforced() -> None:
    table = dens.load_vocabularies("medical")
    mediator = dens.Node(1, table)
    with pytest.raises(Exception, match="only subscribers subscribe"):
        mediator.subscribe(dens.compile(FEVER, table), 0)
    with pytest.raises(Exception, match="only publishers measure"):
        mediator.measure({"patient_temperature": 40}, 0)
    with pytest.raises(Exception, match="use mediator, subscriber or publisher"):
        dens.Node(1, table, "broker")  # type: ignore[arg-type]


def test_the_examples_of_the_page_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    names: dict[str, object] = {}
    for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(program, "docs/reference/api.md", "exec"), names)
    printed = capsys.readouterr().out
    shown = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert printed == "".join(shown)

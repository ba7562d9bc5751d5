"""Words, vocabularies, thesauri and offers on the command line."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dens.trace.tables import plain_schema
from tests.paths import ROOT

VOCABULARIES = ROOT / "knowledge_manager" / "vocabularies"
THESAURI = ROOT / "knowledge_manager" / "thesauri"

TURTLE = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dens: <urn:dens:thesaurus:1#> .
@prefix o: <urn:example#> .
o:ticker a skos:Concept ; skos:prefLabel "ticker"@en ; skos:notation "patient.heart_rate"^^dens:attribute .
o:odd a skos:Concept ; skos:prefLabel "[bold]odd[/nothing]"@en ; skos:exactMatch o:ticker .
"""

# Looking up


def test_a_word_with_its_unit_and_its_way(dens) -> None:
    ended = dens("lookup", "temp", "--language", "en")
    assert ended.code == 0
    assert ended.out == (
        "1.00  attribute patient.patient_temperature\n"
        "      event index 0, attribute index 0, feature 1\n"
        "      unit degF, 86..113; mission table: degC\n"
        '      preferred label "temp" (en-us), exact\n'
    )


def test_every_meaning_closest_first_as_json(dens) -> None:
    document = dens("lookup", "vind", "--language", "no", "--json").document()
    found = [(meaning["name"], meaning["closeness"]) for meaning in document["meanings"]]
    assert found == [("weather.wind_direction", 0.8), ("weather.wind_speed", 0.8)]
    assert [step["relation"] for step in document["meanings"][0]["path"]] == ["exact", "narrower"]
    assert document["nearest"] == []


def test_an_unknown_word_ends_1_with_what_was_meant(dens) -> None:
    ended = dens("lookup", "hjertefrekvns")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == '"hjertefrekvns" is unknown; did you mean "hjertefrekvens"?\n'
    document = dens("lookup", "hjertefrekvns", "--json").document()
    assert (document["meanings"], document["nearest"]) == ([], ["hjertefrekvens"])
    assert dens("lookup", "zzzzzzzzzz").err == '"zzzzzzzzzz" is unknown\n'


def test_a_language_without_words_and_no_word_at_all_are_usage_errors(dens) -> None:
    unknown = dens("lookup", "temp", "--language", "tlh")
    assert unknown.code == 2
    assert "rescue has no words in 'tlh'; available languages: bg, de, en" in unknown.err
    assert dens("vocabulary", "show", "medical", "--language", "tlh").code == 2
    assert dens("lookup", " ").code == 2


def test_a_smaller_mission_table_knows_less(dens) -> None:
    assert dens("lookup", "kullos").code == 0
    assert dens("lookup", "kullos", "--vocabulary", "medical").code == 1


def test_another_thesaurus_in_skos_or_compiled(dens, tmp_path: Path) -> None:
    skos = tmp_path / "mine.ttl"
    skos.write_text(TURTLE)
    assert "patient.heart_rate" in dens("lookup", "Ticker", "--thesaurus", skos).out
    assert dens("lookup", "ticker").code == 1
    made = dens("thesaurus", "compile", skos, "-o", tmp_path / "mine.thesaurus")
    assert made.code == 0
    found = dens("lookup", "[bold]odd[/nothing]", "--thesaurus", tmp_path / "mine.thesaurus")
    assert 'preferred label "[bold]odd[/nothing]" (en), exact' in found.out
    missing = dens("lookup", "ticker", "--thesaurus", "rescu")
    assert missing.code == 3
    assert missing.err == (
        'rescu: error D224: no shipped thesaurus has this name (rescue); did you mean "rescue"?; '
        "the name of a file ends in one of .thesaurus, .ttl, .jsonld, .rdf\n"
    )


# Vocabularies


def test_show_a_vocabulary_with_others_words(dens) -> None:
    ended = dens("vocabulary", "show", "medical", "--language", "no")
    assert ended.code == 0
    assert ended.out.startswith("medical, version 1: Vital signs of patients\n")
    (line,) = [line for line in ended.out.splitlines() if "heart_rate" in line]
    assert [cell.strip() for cell in line.strip("│").split("│")] == [
        "1", "2", "heart_rate", "20..250 bpm", "low, normal, high, very_high", "hjertefrekvens",
    ]  # fmt: skip
    document = dens("vocabulary", "show", "medical", "--json").document()
    triage = document["events"][0]["attributes"][6]
    assert (triage["feature"], triage["values"][0]) == (64, "minor")
    assert "tag color" in triage["words"]
    assert dens("vocabulary", "show", "medicine").code == 3


def test_show_a_graph_class_with_dictionary_facets_and_taxonomy(dens) -> None:
    ended = dens("vocabulary", "show", "reports", "--language", "no")
    assert ended.code == 0
    assert "report (index 4, feature 16, at most 4096 bytes)" in ended.out
    cells = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in ended.out.splitlines()
        if "│" in line
    ]
    assert ["0", "rdf:type"] in cells
    assert ["rss", "http://purl.org/rss/1.0/"] in cells
    assert any(row[2:4] == ["topic", "dc:subject, cap:event"] for row in cells)
    assert "Taxonomy hazards: 33 classes" in ended.out
    assert "flashFlood  (styrtflom)" in ended.out
    [report] = dens("vocabulary", "show", "reports", "--json").document()["graphs"]
    assert report["terms"][:2] == ["rdf:type", "rss:item"]
    assert sum(facet["is_open"] for facet in report["facets"]) == 1
    assert dens("vocabulary", "show", "medical", "--json").document()["graphs"] == []


def test_markup_in_a_vocabulary_is_shown_as_it_is(dens, tmp_path: Path) -> None:
    text = (VOCABULARIES / "medical.toml").read_text("utf-8")
    odd = tmp_path / "odd.toml"
    odd.write_text(text.replace("One look at one patient", "[red]One[/nothing] look"))
    assert "[red]One[/nothing] look" in dens("vocabulary", "show", odd).out


def test_vocabularies_one_by_one_and_together(dens, tmp_path: Path) -> None:
    fine = dens("vocabulary", "check", "medical", "weather", "fire")
    assert (fine.code, fine.out) == (0, "")
    assert fine.err.startswith("3 checked; table check 0x")
    copy = tmp_path / "copy.toml"
    copy.write_bytes((VOCABULARIES / "medical.toml").read_bytes())
    clash = dens("vocabulary", "check", "medical", copy)
    assert clash.code == 1
    line = 1 + copy.read_text("utf-8").splitlines().index('name = "medical"')
    assert clash.out.splitlines()[0] == (
        f"{copy}:{line}:1: error D214: vocabulary medical is loaded twice; name it once"
    )
    copy.write_text("name = 3\n")
    broken = dens("vocabulary", "check", copy, "--json")
    assert broken.code == 1
    document = broken.document()
    assert document["table_check"] is None
    assert {problem["line"] for problem in document["problems"]} >= {1}


def test_a_term_that_no_three_bytes_can_say_is_found_where_it_is_written(dens, tmp_path: Path) -> None:
    path = tmp_path / "camp.toml"
    hills = "[[0.0, 1.0], [10.0, 0.0], [20.0, 0.0], [30.0, 1.0], [35.0, 0.0]]"
    text = 'name = "camp"\nversion = 1\n[[event]]\nname = "tent"\nindex = 3\n[[event.attribute]]\n'
    path.write_text(
        f'{text}name = "warmth"\nindex = 0\ndomain = [0.0, 40.0]\nterms.odd = {{ points = {hills} }}\n'
    )
    for command in (["vocabulary", "check"], ["check"]):
        done = dens(*command, str(path))
        assert done.code == 1
        assert 'camp.toml:10:1: error D217: term "odd" of warmth: the encoded curve deviates' in done.out


def test_two_versions_of_a_vocabulary(dens, tmp_path: Path) -> None:
    text = (VOCABULARIES / "medical.toml").read_text("utf-8")
    newer = tmp_path / "medical.toml"
    assert dens("vocabulary", "diff", "medical", "medical").err == "no changes\n"
    newer.write_text(text.replace("version = 1", "version = 2").replace('"W1", "W2"', '"W1", "W2", "W3"'))
    grown = dens("vocabulary", "diff", "medical", newer)
    assert (grown.code, grown.out) == (0, "warning D225: patient.ward: values were added: W3\n")
    newer.write_text(text.replace('"W1", "W2"', '"W2", "W1"'))
    turned = dens("vocabulary", "diff", "medical", newer)
    assert turned.code == 1
    assert turned.out == (
        "error D225: the version was 1 and is 1; raise it with every change\n"
        "error D225: patient.ward: the values were reordered or removed; append new ones instead\n"
    )
    assert dens("vocabulary", "diff", "medical", newer, "--json").document()["compatible"] is False
    assert dens("vocabulary", "diff", "medical", tmp_path / "none.toml").code == 3


# Thesauri


def test_check_reads_skos(dens, tmp_path: Path) -> None:
    fine = dens("check", THESAURI)
    assert (fine.code, fine.out) == (0, "")
    broken = tmp_path / "broken.ttl"
    broken.write_text("@prefix skos: <http://www.w3.org/2004/02/skos/core#>\n")
    lacking = tmp_path / "lacking.ttl"
    lacking.write_text(TURTLE.replace("patient.heart_rate", "patient.hart_rat"))
    ended = dens("check", tmp_path, "--json")
    assert ended.code == 1
    document = ended.document()
    assert document["failed"] == [str(broken)]
    codes = {(Path(problem["file"]).name, problem["code"]) for problem in document["problems"]}
    assert codes == {("broken.ttl", "D506"), ("lacking.ttl", "D222")}


def test_the_shipped_thesaurus_is_what_its_sources_compile_to(dens, tmp_path: Path) -> None:
    out = tmp_path / "rescue.thesaurus"
    ended = dens("thesaurus", "compile", THESAURI, "-o", out, "--json")
    assert ended.code == 0
    assert out.read_bytes() == (THESAURI / "rescue.thesaurus").read_bytes()
    document = ended.document()
    assert document["bytes"] == len(out.read_bytes())
    assert document["concepts"] > 100
    assert len(document["files"]) == 4


def test_what_no_thesaurus_comes_from(dens, tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE.replace("exactMatch o:ticker", "exactMatch o:nowhere"))
    named = dens("thesaurus", "compile", tmp_path / "a.ttl", "-o", tmp_path / "a.bin")
    assert named.code == 2
    assert "must end in .thesaurus" in named.err
    nothing = dens("thesaurus", "compile", ROOT / "docs", "-o", tmp_path / "a.thesaurus")
    assert nothing.code == 3
    assert not (tmp_path / "a.thesaurus").exists()
    warned = dens("thesaurus", "compile", tmp_path / "a.ttl", "-o", tmp_path / "a.thesaurus")
    assert warned.code == 0
    assert "warning D222" in warned.err
    assert dens("thesaurus", "compile", tmp_path / "a.ttl").code == 2


# Offers: two medics, two patients with a generator, a pole with a recording of weather

NAMES = ["medics-1", "medics-2", "patients-1", "patients-2", "poles-1"]
ROLES = ["subscriber", "subscriber", "mediator", "mediator", "publisher"]
SENSORS = [
    {"group": "patients", "event": "patient", "source": {"generator": "vital_signs"}},
    {"group": "poles", "event": "weather", "source": {"csv": "w.csv", "columns": {"temperature": "t"}}},
    {"group": "poles", "event": "patient", "source": {"csv": "w.csv", "columns": {"heart_rate": "p"}}},
]
CONTACTS = [(0, 2, 10.0, 20.5, False), (2, 4, 12.0, 18.0, False), (1, 3, 90.0, 100.0, True)]
STATES = [(0, node, "up") for node in range(5)] + [(15_000, 4, "down"), (16_000, 4, "up")]


def write_table(run: Path, table: str, columns: dict[str, list[Any]]) -> None:
    folder = run / "trace" / table
    folder.mkdir(parents=True)
    rows = pa.table(columns, schema=plain_schema(table, list(columns)))
    pq.write_table(rows, folder / "part-00000.parquet")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Write the parts of a run that the command reads."""
    run = tmp_path / "run"
    a, b, begin_s, end_s, censored = map(list, zip(*CONTACTS, strict=True))
    begin_ms, end_ms = ([second * 1000 for second in seconds] for seconds in (begin_s, end_s))
    write_table(
        run, "contacts", {"a": a, "b": b, "begin_ms": begin_ms, "end_ms": end_ms, "censored": censored}
    )
    groups = [name.rpartition("-")[0] for name in NAMES]
    write_table(run, "nodes", {"node": list(range(5)), "name": NAMES, "group": groups, "role": ROLES})
    at_ms, node, state = map(list, zip(*STATES, strict=True))
    write_table(run, "node_state", {"at_ms": at_ms, "node": node, "state": state})
    documents = {name: (VOCABULARIES / f"{name}.toml").read_text("utf-8") for name in ("medical", "weather")}
    manifest = {
        "schema_version": 1, "status": "complete", "simulated_ms": 100_000, "seed": 1,
        "scenario": {"sensor": SENSORS}, "vocabulary_documents": documents,
    }  # fmt: skip
    (run / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return run


def offered(document: dict[str, Any]) -> dict[str, list[int]]:
    return {f"{offer['event']}.{offer['attribute']}": offer["nodes"] for offer in document["offers"]}


@pytest.mark.parametrize(
    ("node", "at", "reached"),
    [
        ("medics-1", "9.999", {0: 0}),
        ("medics-1", "10", {0: 0, 2: 1}),
        ("medics-1", "12", {0: 0, 2: 1, 4: 2}),
        ("4", "12", {4: 0, 2: 1, 0: 2}),
        ("medics-1", "15.5", {0: 0, 2: 1}),
        ("poles-1", "15.5", {}),
        ("medics-1", "16", {0: 0, 2: 1, 4: 2}),
        ("medics-1", "20.5", {0: 0}),
        ("medics-2", "100", {1: 0, 3: 1}),
    ],
)
def test_the_partition_of_a_moment(dens, recorded: Path, node: str, at: str, reached: dict[int, int]) -> None:
    document = dens("offers", recorded, "--node", node, "--at", at, "--json").document()
    assert {entry["node"]: entry["hops"] for entry in document["partition"]} == reached


def test_who_is_near_without_a_mediator_is_not_reached(dens, recorded: Path) -> None:
    table = recorded / "trace" / "nodes" / "part-00000.parquet"
    rows = pq.read_table(table)
    roles = pa.array(["subscriber", "subscriber", "publisher", "publisher", "publisher"])
    pq.write_table(rows.set_column(rows.column_names.index("role"), "role", roles), table)
    assert dens("offers", recorded, "--node", "medics-1", "--at", "13").err == (
        "medics-1 at 13 s reaches no other node\nnothing is measured in this partition\n"
    )


CHAIN = """
name = "chain"
duration_s = 60
vocabularies = ["weather"]

[area]
width_m = 600
height_m = 10

[network]
forwarding = "shortest_path"
hop_limit = LIMIT

[radio.pole]
range_m = 120
rate_bytes_per_s = 12500

[[sensor]]
group = "pass"
event = "weather"
every_s = 20
source = { generator = "diurnal_weather" }
"""
ALONG = [("village", "subscriber"), ("low", "forwarder"), ("station", "mediator"), ("high", "forwarder"),
         ("pass", "publisher")]  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "node", "reached"),
    [
        (2, "village-1", {0: 0, 1: 3, 2: 2, 3: 3, 4: 4}),
        (2, "pass-1", {4: 0, 2: 2, 1: 3, 3: 3, 0: 4}),
        (2, "station-1", {2: 0, 1: 1, 3: 1, 0: 2, 4: 2}),
        (1, "village-1", {0: 0}),
        (1, "station-1", {2: 0, 1: 1, 3: 1}),
    ],
)
@pytest.mark.parametrize("at", ["1", "40"])
def test_forwarders_relay_as_far_as_the_hop_limit(
    dens, tmp_path: Path, limit: int, node: str, reached: dict[int, int], at: str
) -> None:
    groups = "".join(
        f'[[group]]\nname = "{name}"\nrole = "{role}"\ncount = 1\nradio = "pole"\n'
        f'mobility = {{ model = "static", places_m = [[{100 * place}, 5]] }}\n'
        for place, (name, role) in enumerate(ALONG)
    )
    (tmp_path / "chain.toml").write_text(CHAIN.replace("LIMIT", str(limit)) + groups, "utf-8")
    assert dens("run", tmp_path / "chain.toml", "--out", tmp_path / "run").code == 0
    document = dens("offers", tmp_path / "run", "--node", node, "--at", at, "--json").document()
    assert {entry["node"]: entry["hops"] for entry in document["partition"]} == reached
    assert {number for nodes in offered(document).values() for number in nodes} == reached.keys() & {4}


@pytest.mark.parametrize(
    ("forwarding", "at", "reached"),
    [
        ("shortest_path", "40", {0: 0, 3: 5}),
        ("shortest_path", "95", {0: 0, 3: 5, 1: 6}),
        ("shortest_path", "12", {0: 0, 2: 1, 4: 2}),
        ("none", "40", {0: 0}),
    ],
)
def test_contact_beyond_range_has_the_duration_of_the_trace(
    dens, recorded: Path, forwarding: str, at: str, reached: dict[int, int]
) -> None:
    write_table(
        recorded,
        "overlay_contacts",
        {"a": [0], "b": [3], "begin_ms": [30_000], "end_ms": [100_000], "hops": [5], "censored": [True]},
    )
    manifest = json.loads((recorded / "manifest.json").read_text("utf-8"))
    manifest["scenario"]["network"] = {"forwarding": forwarding, "hop_limit": 8}
    (recorded / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    document = dens("offers", recorded, "--node", "medics-1", "--at", at, "--json").document()
    assert {entry["node"]: entry["hops"] for entry in document["partition"]} == reached


@pytest.mark.parametrize("generator", ["diurnal_weather", "fire_signs", "vital_signs"])
def test_every_generator_offers_what_it_makes(dens, recorded: Path, generator: str) -> None:
    event = {"diurnal_weather": "weather", "fire_signs": "fire", "vital_signs": "patient"}[generator]
    manifest = json.loads((recorded / "manifest.json").read_text("utf-8"))
    manifest["vocabulary_documents"]["fire"] = (VOCABULARIES / "fire.toml").read_text("utf-8")
    sensor = {"group": "poles", "event": event, "source": {"generator": generator}}
    manifest["scenario"]["sensor"] = [sensor]
    (recorded / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    document = dens("offers", recorded, "--node", "medics-1", "--at", "13", "--json").document()
    assert document["offers"]
    assert {offer["event"] for offer in document["offers"]} == {event}


def test_no_second_of_a_run(dens, recorded: Path) -> None:
    assert dens("offers", recorded, "--node", "medics-1", "--at", "inf").code == 2


def test_what_a_partition_offers(dens, recorded: Path) -> None:
    document = dens(
        "offers", recorded, "--node", "medics-1", "--at", "13", "--language", "no", "--json"
    ).document()
    assert offered(document) == {
        "patient.patient_temperature": [2],
        "patient.heart_rate": [2, 4],
        "patient.oxygen_saturation": [2],
        "patient.respiration_rate": [2],
        "patient.systolic_pressure": [2],
        "weather.temperature": [4],
    }
    assert document["offers"][1]["words"] == ["hjertefrekvens"]
    assert [(held["node"], held["hops"]) for held in document["announcements"]] == [(2, 1), (4, 2)]
    ended = dens("offers", recorded, "--node", "medics-1", "--at", "13")
    assert ended.code == 0
    assert ended.err == "medics-1 at 13 s reaches patients-1, poles-1\n"
    (line,) = [line for line in ended.out.splitlines() if "heart_rate" in line]
    assert "patients-1, poles-1" in line


@pytest.mark.parametrize("named", ["words.ttl", ["words.ttl"]])
def test_a_runs_own_words_are_among_those_that_are_offered(dens, recorded: Path, named: object) -> None:
    manifest = json.loads((recorded / "manifest.json").read_text("utf-8"))
    manifest["scenario"]["thesaurus"] = named
    manifest["inputs"] = {"words.ttl": "0123-words.ttl"}
    (recorded / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (recorded / "inputs").mkdir(exist_ok=True)
    (recorded / "inputs" / "0123-words.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix dens: <urn:dens:thesaurus:1#> .\n"
        '<urn:x:hf> a skos:Concept ; skos:prefLabel "Herzfrequenz"@de ; '
        'skos:notation "patient.heart_rate"^^dens:attribute .\n'
    )
    words = ["offers", recorded, "--node", "medics-1", "--at", "13", "--json"]
    [rate] = [one for one in dens(*words).document()["offers"] if one["attribute"] == "heart_rate"]
    assert {"Herzfrequenz", "hjertefrekvens"} <= set(rate["words"])


def test_the_end_of_a_run_is_the_default_moment(dens, recorded: Path) -> None:
    assert dens("offers", recorded, "--node", "medics-2").err == "medics-2 at 100 s reaches patients-2\n"
    assert dens("offers", recorded, "--node", "medics-1").err == (
        "medics-1 at 100 s reaches no other node\nnothing is measured in this partition\n"
    )
    assert dens("offers", recorded, "--node", "poles-1", "--at", "15").err == "poles-1 is down at 15 s\n"


def test_who_can_serve_a_subscription_and_who_nearly_can(dens, recorded: Path, tmp_path: Path) -> None:
    wanted = tmp_path / "fever.xml"
    wanted.write_text(
        '<subscription xmlns="urn:dens:subscription:1" event="pasient" xml:lang="no">'
        '<approximate-predicate attribute="puls"><is>høy</is></approximate-predicate>'
        '<crisp-predicate attribute="kroppstemperatur" operator="ge">39</crisp-predicate></subscription>',
        "utf-8",
    )
    asking = ("offers", recorded, "--node", "medics-1", "--at", "13", "--subscription")
    ended = dens(*asking, wanted)
    assert ended.code == 0
    assert ended.out.endswith(
        "patient: patient_temperature, heart_rate is offered by patients-1\n"
        "  poles-1 lacks patient_temperature\n"
    )
    vector = dens("compile", wanted).out.strip()
    document = dens(*asking, vector, "--json").document()
    assert document["subscription"] == [
        {
            "event": "patient",
            "attributes": ["patient_temperature", "heart_rate"],
            "publishers": [2],
            "partial": [{"node": 4, "offered": ["heart_rate"], "missing": ["patient_temperature"]}],
        }
    ]
    assert dens(*asking, "00").code == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--node", "medic-1"), 'error: no node is called "medic-1" (medics-1, medics-2, patients-1, '
         'patients-2, poles-1); did you mean "medics-1"?\n'),
        (("--node", "0", "--at", "101"), "error: --at 101: this run covers 0 to 100 seconds\n"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_run(dens, recorded: Path, words: tuple[str, ...], message: str) -> None:
    ended = dens("offers", recorded, *words)
    assert (ended.code, ended.out, ended.err) == (3, "", message)


def test_missing_or_incomplete_run_folder(dens, recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "no manifest.json" in dens("offers", tmp_path / "empty", "--node", "0").err
    part = recorded / "trace" / "contacts" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:50])
    torn = dens("offers", recorded, "--node", "0")
    assert torn.code == 3
    assert "contacts/part-00000.parquet: error D384: this part of the trace cannot be read" in torn.err
    part.unlink()
    assert "the trace has no table contacts" in dens("offers", recorded, "--node", "0").err


def reached_from(node: int, rows: list[dict[str, Any]], at_ms: int, mediators: set[int]) -> set[int]:
    """Return the nodes reachable through mediators, by retrying every contact until no node is added."""
    reached, before = {node}, 0
    while len(reached) > before:
        before = len(reached)
        for row in rows:
            for near, far in ((row["a"], row["b"]), (row["b"], row["a"])):
                hands_on = near in mediators or (near == node and far in mediators)
                if row["begin_ms"] <= at_ms < row["end_ms"] and near in reached and hands_on:
                    reached.add(far)
    return reached


def test_emulator_run_can_be_queried(dens, tmp_path: Path) -> None:
    assert dens("init", tmp_path / "sample").code == 0
    (scenario,) = [
        path for path in (tmp_path / "sample").glob("*.toml") if "[[group]]" in path.read_text("utf-8")
    ]
    run = tmp_path / "run"
    assert dens("run", scenario, "--out", run).code == 0
    rows = pq.read_table(run / "trace" / "contacts").to_pylist()
    names = pq.read_table(run / "trace" / "nodes").to_pylist()
    mediators = {row["node"] for row in names if row["role"] == "mediator"}
    asked = 0
    moments = sorted({int(row["begin_ms"] + row["end_ms"]) // 2000 for row in rows})
    for second in moments[:: max(1, len(moments) // 4)]:
        for node in sorted({row["a"] for row in rows if row["begin_ms"] <= second * 1000 < row["end_ms"]})[
            :3
        ]:
            expected = reached_from(node, rows, second * 1000, mediators)
            document = dens("offers", run, "--node", str(node), "--at", str(second), "--json").document()
            assert {entry["node"] for entry in document["partition"]} == expected
            asked += len(expected) > 1
            assert {node for nodes in offered(document).values() for node in nodes} <= expected
    assert asked >= 4
    publisher = next(row["name"] for row in names if row["role"] == "publisher")
    own = dens("offers", run, "--node", publisher, "--json").document()
    assert own["offers"]


@pytest.mark.parametrize(
    "words", [["lookup"], ["offers"], ["vocabulary", "show"], ["vocabulary", "check"],
              ["vocabulary", "diff"], ["thesaurus", "compile"]]
)  # fmt: skip
def test_every_command_has_help_and_json_and_refuses_wrong_usage(dens, words: list[str]) -> None:
    ended = dens(*words, "--help")
    assert ended.code == 0
    assert "--json" in ended.out
    assert dens(*words, "--no-such-option").code == 2


def test_a_word_selects_the_offers_of_a_run(dens, recorded: Path) -> None:
    asking = ("offers", recorded, "--node", "medics-1", "--at", "13", "--word")
    found = dens(*asking, "hjertefrekvens", "--json")
    assert found.code == 0
    assert {offer["attribute"] for offer in found.document()["offers"]} == {"heart_rate"}
    assert found.document()["meanings"]
    unknown = dens(*asking, "hjertefrekvns")
    assert (unknown.code, 'did you mean "hjertefrekvens"?' in unknown.err) == (1, True)
    absent = dens(*asking, "rent")
    assert (absent.code, absent.out) == (1, "")
    refused = dens(*asking, "temp", "--hops", "3")
    assert (refused.code, "this option is for NODE.toml" in refused.err) == (2, True)

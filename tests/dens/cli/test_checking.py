"""`dens check` judges a subscription by what it will be used with, and says so where that cannot be."""

from pathlib import Path

import pytest

SNOW = """name = "{name}"
version = 1

[[event]]
name = "{event}"
index = {index}

[[event.attribute]]
name = "temperature"
index = 0
domain = [-50, 50]
unit = "degC"
terms.icy = {{ trapezoidal = {{ left = -20, right = -10, width = 5 }} }}
"""

ASKS = """<subscription xmlns="urn:dens:subscription:1" event="{event}">
  <approximate-predicate attribute="{attribute}"><is>{term}</is></approximate-predicate>
</subscription>
"""

SCENARIO = """name = "small"
duration_s = 60
vocabularies = ["{vocabulary}"]
{more}
[area]
width_m = 10
height_m = 10

[radio.near]
range_m = 50
rate_bytes_per_s = 1000

[[group]]
name = "all"
role = ["mediator", "subscriber", "publisher"]
count = 2
radio = "near"
mobility = {{ model = "static" }}
"""

WORDS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dens: <urn:dens:thesaurus:1#> .
<#a> a skos:Concept ; skos:prefLabel "Schneetemperatur" ; skos:notation "snow.temperature"^^dens:attribute .
<#b> a skos:Concept ; skos:prefLabel "vereist"@de ; skos:notation "icy"^^dens:term .
"""


def vocabulary(path: Path, event: str, index: int) -> Path:
    path.write_text(SNOW.format(name=path.stem, event=event, index=index))
    return path


def subscription(path: Path, event: str, term: str, attribute: str = "temperature") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(ASKS.format(event=event, term=term, attribute=attribute))
    return path


def test_a_vocabulary_that_takes_a_shipped_index_is_an_error_at_its_place(dens, tmp_path: Path) -> None:
    own = vocabulary(tmp_path / "lawine.toml", "snow", 0)
    subscription(tmp_path / "icy.xml", "snow", "icy")
    ended = dens("check", tmp_path)
    assert ended.code == 1
    assert ended.out.splitlines() == [
        f"{own}:6:1: error D214: event index 0 of lawine.snow is already taken by medical.patient; "
        "load only one of them or change it"
    ], "the subscription is right, and is not blamed"


def test_no_subscription_is_found_right_with_the_vocabulary_that_is_not_meant(dens, tmp_path: Path) -> None:
    own = vocabulary(tmp_path / "own.toml", "weather", 5)
    asking = subscription(tmp_path / "s.xml", "weather", "cold")
    ended = dens("check", tmp_path)
    assert ended.code == 1
    assert f"{own}:5:1: error D214: " in ended.out
    assert f"{asking}:2:" in ended.out
    assert "error D102" in ended.out


def test_two_missions_in_two_folders_do_not_clash(dens, tmp_path: Path) -> None:
    for name, event in (("one", "snow"), ("two", "slope")):
        folder = tmp_path / name
        folder.mkdir()
        vocabulary(folder / f"{name}.toml", event, 5)
        subscription(folder / "s.xml", event, "icy")
    assert dens("check", tmp_path).code == 0
    vocabulary(tmp_path / "one" / "three.toml", "avalanche", 5)
    assert "three.toml:6:1: error D214" in dens("check", tmp_path).out


def test_a_scenario_says_what_the_subscriptions_beside_it_are_used_with(dens, tmp_path: Path) -> None:
    vocabulary(tmp_path / "lawine.toml", "snow", 0)
    (tmp_path / "words.ttl").write_text(WORDS)
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO.format(vocabulary="lawine.toml", more='thesaurus = "words.ttl"'))
    subscription(tmp_path / "s.xml", "snow", "vereist", "Schneetemperatur")
    subscription(tmp_path / "below" / "s.xml", "snow", "icy")
    ended = dens("check", tmp_path)
    assert [line for line in ended.out.splitlines() if "error" in line] == []
    assert ended.code == 0
    subscription(tmp_path / "s.xml", "patient", "high", "heart_rate")
    blamed = dens("check", tmp_path)
    assert blamed.code == 1
    assert "s.xml:1:" in blamed.out
    assert 'error D101: event class "patient" is unknown' in blamed.out


def test_a_scenario_says_it_for_what_it_names_elsewhere(dens, tmp_path: Path) -> None:
    for name in ("mission", "documents"):
        (tmp_path / name).mkdir()
    vocabulary(tmp_path / "mission" / "lawine.toml", "snow", 0)
    subscribed = '[[subscription]]\ngroup = "all"\nfile = "../documents/s.xml"\n'
    text = SCENARIO.format(vocabulary="lawine.toml", more="")
    (tmp_path / "mission" / "scenario.toml").write_text(text + subscribed)
    subscription(tmp_path / "documents" / "s.xml", "snow", "icy")
    assert dens("check", tmp_path).code == 0
    (tmp_path / "mission" / "scenario.toml").write_text(text)
    assert dens("check", tmp_path / "documents" / "s.xml").code == 1


def test_a_nodes_file_brings_its_words_along(dens, tmp_path: Path) -> None:
    vocabulary(tmp_path / "lawine.toml", "snow", 0)
    (tmp_path / "words.ttl").write_text(WORDS)
    node = tmp_path / "node.toml"
    node.write_text(
        'node = 1\nstore = "n.sqlite"\nvocabularies = ["lawine.toml"]\nthesaurus = ["words.ttl"]\n'
        '[udp]\naddress = "127.0.0.1:0"\n'
    )
    asking = subscription(tmp_path / "s.xml", "snow", "vereist", "Schneetemperatur")
    assert dens("check", tmp_path).code == 0
    nobody = ["--at", "127.0.0.1:9", "--seconds", "0"]
    assert "subscription 0 (s.xml): 00" in dens("node", "subscribe", node, asking, *nobody).err
    node.write_text(node.read_text().replace('thesaurus = ["words.ttl"]\n', ""))
    assert "error D103" in dens("node", "subscribe", node, asking, *nobody, "--as", "7").err
    named = dens(
        "node", "subscribe", node, asking, *nobody, "--as", "8", "--thesaurus", tmp_path / "words.ttl"
    )
    assert "subscription 0 (s.xml): 00" in named.err
    node.write_text(node.read_text().replace("[udp]", 'thesaurus = ["wrods.ttl"]\n[udp]'))
    assert (
        f'{node}:4:14: error D345: thesaurus[0]: the thesaurus "wrods.ttl" is neither'
        in dens("check", node).out
    )


def test_contradicting_exact_links_and_mistyped_properties_are_reported(dens, tmp_path: Path) -> None:
    words = tmp_path / "words.ttl"
    words.write_text(
        WORDS + '<#a> skos:exactMatch <#c> .\n<#c> a skos:Concept ; skos:prefLabel "x" ; '
        'skos:notation "weather.pressure"^^dens:attribute .\n'
        '<#d> a skos:Concept ; skos:prefLabel "d" ; skos:exactMatch <#a> .\n'
    )
    ended = dens("check", words)
    assert "warning D226: skos:exactMatch joins different targets: " in ended.out
    assert ended.code == 0
    words.write_text(WORDS + '<#c> a skos:Concept ; skos:preflabel "x" ; skos:altLabel "y" .\n')
    ended = dens("check", words)
    assert (
        f'{words}:5:28: error D221: skos:preflabel is not a property of skos:; did you mean "prefLabel"?'
        in ended.out
    )
    assert ended.code == 1
    words.write_text(WORDS + '<#c> a skos:concept ; skos:prefLabel "x" ; dens:units "m" .\n')
    ended = dens("check", words)
    assert 'skos:concept is not a class of skos:; did you mean "Concept"?' in ended.out
    assert 'dens:units is not a property of dens:; did you mean "unit"?' in ended.out


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n"])
def test_empty_scenario_file_is_reported_as_one_error(dens, tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.toml"
    path.write_text(text)
    ended = dens("check", path)
    assert ended.code == 1
    assert len(ended.out.splitlines()) == 1
    assert f"{path}:1:1: error D356: empty file; a scenario has [[group]]" in ended.out


def test_a_sweep_is_checked_as_one(dens, tmp_path: Path) -> None:
    path = tmp_path / "policies.toml"
    path.write_text(
        'scenario = "two_islands"\nseeds = "1..2"\n[vary]\n"overlay.policy" = ["epidemic", "dens"]\n'
    )
    assert dens("check", path).code == 0
    path.write_text(path.read_text().replace('"dens"', '"denns"'))
    ended = dens("check", path)
    assert ended.code == 1
    [line] = [line for line in ended.out.splitlines() if "error" in line and "D" in line][:1]
    assert f"{path}:4:" in line
    assert "denns" in line


def test_what_the_command_line_names_and_cannot_be_used_is_refused(dens, tmp_path: Path) -> None:
    asking = subscription(tmp_path / "s.xml", "weather", "cold")
    assert dens("check", asking, "--vocabulary", "no.toml").code == 3
    assert dens("check", asking, "--thesaurus", "no.ttl").code == 3


def test_own_words_lie_over_the_shipped_ones_in_every_command(dens, tmp_path: Path) -> None:
    words, more = tmp_path / "words.ttl", tmp_path / "more.ttl"
    words.write_text(WORDS.replace("snow.temperature", "weather.temperature"))
    more.write_text(WORDS.replace("Schneetemperatur", "Lufttemperatur").replace("snow.", "weather."))
    over = ["--thesaurus", words, "--thesaurus", more]
    for word in ("Schneetemperatur", "Lufttemperatur", "kroppstemperatur"):
        assert dens("lookup", word, *over).code == 0
    for attribute in ("Schneetemperatur", "Lufttemperatur"):
        asking = subscription(tmp_path / "s.xml", "weather", "kald", attribute)
        for command in ("check", "compile", "explain"):
            assert dens(command, asking, *over).code == 0, "kald is the fire brigade's word, which ships"

"""A package outside of DENS adds members to every registry, as docs/how-to/extending.md shows."""

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dens.config.entry_points import OutsidePackageError
from dens.node.installed_policies import ENTRY_POINT_GROUP as POLICIES_GROUP
from dens.node.installed_policies import policies
from dens.node.sources.kinds import ENTRY_POINT_GROUP as SOURCES_GROUP
from dens.node.sources.kinds import SourceKind, SourceOrder, made_source, source_kinds
from emulation.forwarding.topology import KnownTopology
from emulation.mobility.model import Area
from emulation.mobility.registry import ENTRY_POINT_GROUP as MOBILITY_GROUP
from emulation.mobility.registry import mobility_models
from knowledge_manager.mission_table import load_mission_table
from plugins.readings import ExactReading
from plugins.registry import languages
from tests.contracts.outside import ROOT, dens, installed

pytestmark = pytest.mark.xdist_group("outside_package")

PACKAGE = ROOT / "tests" / "outside_package"
MEMBERS = ("two_hop", "circle", "widest_neighbour", "topics", "lost_share", "latest_values")
PAGE = ROOT / "docs" / "how-to" / "extending.md"
SCENARIO = """\
name = "harbour"
duration_s = 1800
seed = 3
area = { width_m = 200, height_m = 200 }
overlay.policy = "two_hop"
radio.device = { range_m = 40, rate_bytes_per_s = 25000 }

[[group]]
name = "boats"
role = ["mediator", "publisher", "subscriber"]
count = 8
radio = "device"
mobility = { model = "circle", radius_m = 60, speed_m_per_s = [2, 4] }

[[traffic]]
source = "boats"
destination = "boats"
every_s = 60
size_bytes = 200
lifetime_s = 1200
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(PACKAGE, tmp_path_factory.mktemp("outside"))


def run_of(site: Path, folder: Path, *changes: str) -> dict[str, object]:
    (folder / "harbour.toml").write_text(SCENARIO)
    settings = [word for change in changes for word in ("--set", change)]
    ended = dens(site, folder, "run", "harbour.toml", "--out", "out", "--json", *settings)
    assert ended.returncode == 0, ended.stderr
    manifests = [*folder.glob("out/**/manifest.json")]
    assert len(manifests) == 1
    document: dict[str, object] = json.loads(manifests[0].read_text())
    return document


def test_a_scenario_runs_with_its_policy_its_mobility_and_its_forwarding(site: Path, tmp_path: Path) -> None:
    document = run_of(
        site, tmp_path, "overlay.policies.two_hop.relays=2", "network.forwarding=widest_neighbour"
    )
    told = document["scenario"]
    assert isinstance(told, dict)
    assert told["overlay"]["policy"] == "two_hop"
    assert told["overlay"]["policies"] == {"two_hop": {"relays": 2}}
    assert told["group"][0]["mobility"]["model"] == "circle"
    assert told["network"]["forwarding"] == "widest_neighbour"
    versions = document["versions"]
    assert isinstance(versions, dict)
    assert versions["dens-outside"] == "1.0"


def test_without_the_package_its_names_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "harbour.toml").write_text(SCENARIO)
    ended = dens(tmp_path, tmp_path, "run", "harbour.toml")
    assert ended.returncode == 3
    assert 'unknown replication policy "two_hop"' in ended.stderr
    assert 'unknown mobility model "circle"' in ended.stderr
    assert "Traceback" not in ended.stderr


def test_its_parameters_and_keys_are_refused_like_all_others(site: Path, tmp_path: Path) -> None:
    text = SCENARIO.replace("radius_m = 60", "radius = 60")
    (tmp_path / "harbour.toml").write_text(text)
    ended = dens(site, tmp_path, "run", "harbour.toml")
    assert ended.returncode == 3
    assert 'did you mean "radius_m"?' in ended.stderr
    (tmp_path / "harbour.toml").write_text(SCENARIO)
    ended = dens(site, tmp_path, "run", "harbour.toml", "--set", "overlay.policies.two_hop.relays=7")
    assert ended.returncode == 3
    assert "overlay.policies.two_hop.relays: from 1 to 6, not 7" in ended.stderr


def test_names_are_listed_where_names_are_listed(site: Path, tmp_path: Path) -> None:
    looked = json.loads(dens(site, tmp_path, "doctor", "--json").stdout)
    found = {finding["part"]: finding["found"] for finding in looked["findings"]}
    assert found["languages"].endswith("topics")
    assert found["policies"].endswith("two_hop")
    assert found["mobility models"].endswith("circle")
    assert found["forwarding layers"].endswith("widest_neighbour")
    assert found["metrics"].endswith("lost_share")
    assert found["sources"] == "csv, latest_values"
    schema = json.loads(dens(site, tmp_path, "schema", "scenario").stdout)
    overlay = schema["$defs"]["OverlaySettings"]["properties"]
    assert "two_hop" in overlay["policy"]["enum"]
    assert overlay["policies"]["properties"]["two_hop"]["properties"]["relays"]["maximum"] == 6
    assert "widest_neighbour" in schema["$defs"]["NetworkSettings"]["properties"]["forwarding"]["enum"]
    assert schema["$defs"]["CircleTable"]["properties"]["radius_m"]["exclusiveMinimum"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("two_hop:TWO_HOP", "two_hop:NOWHERE"),
            "policy two_hop (dens_outside.two_hop:NOWHERE) of the package",
        ),
        (
            ("two_hop:TWO_HOP", "two_hop:RELAYS"),
            "is a Parameter; name a PolicyKind of dens.overlay.policies.kind",
        ),
        (("circle:CircleTable", "circle:Circle"), "is the class Circle; name a class derived from"),
        (("circle:CircleTable", "two_hop:TWO_HOP"), "is a PolicyKind; name a class derived from"),
        (("topics:TOPICS", "topics:Topics"), "is the class Topics; name a SubscriptionLanguage"),
    ],
    ids=["missing", "no policy", "no table", "no class", "no language"],
)
def test_unusable_package_is_reported_in_words(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    site = installed(PACKAGE, tmp_path, dict([change]))
    (tmp_path / "harbour.toml").write_text(SCENARIO)
    ended = dens(site, tmp_path, "run", "harbour.toml")
    assert ended.returncode == 3
    assert message in ended.stderr
    assert "dens-outside" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()
    if "NOWHERE" in change[1]:
        looked = dens(site, tmp_path, "doctor", "--json")
        assert looked.returncode == 1
        assert message in looked.stdout


SECOND_CSV = SourceKind("second", "file", "text/csv", "another", lambda order: None)  # type: ignore[arg-type, return-value]
PIGEON = SourceKind("pigeon", "pigeon", "", "a bird", lambda order: None)  # type: ignore[arg-type, return-value]


def entry(group: str, value: str) -> EntryPoint:
    return EntryPoint(name="one", value=value, group=group)


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(OutsidePackageError, match=r"policy one .*: the name 'direct' is taken already"):
        policies([entry(POLICIES_GROUP, "dens.overlay.policies.direct:DIRECT")])
    with pytest.raises(
        OutsidePackageError, match=r"mobility model one .*: the name 'static' is taken already"
    ):
        mobility_models([entry(MOBILITY_GROUP, "emulation.mobility.static:StaticTable")])
    with pytest.raises(OutsidePackageError, match=r"language one .*: 0; .* takes a number from 16 to 255"):
        languages([entry("dens.languages", "plugins.direct.language:DIRECT")])
    with pytest.raises(
        OutsidePackageError, match=r"source one .*: \(file, text/csv\) is read by csv already"
    ):
        source_kinds([entry(SOURCES_GROUP, "tests.contracts.test_outside_package:SECOND_CSV")])
    with pytest.raises(OutsidePackageError, match=r"source one .*: \(pigeon, \) has no code"):
        source_kinds([entry(SOURCES_GROUP, "tests.contracts.test_outside_package:PIGEON")])


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(PACKAGE))
    import dens_outside.circle  # type: ignore[import-not-found]
    import dens_outside.latest_values  # type: ignore[import-not-found]
    import dens_outside.topics  # type: ignore[import-not-found]
    import dens_outside.two_hop  # type: ignore[import-not-found]
    import dens_outside.widest_neighbour  # type: ignore[import-not-found]

    yield dens_outside
    for name in [name for name in sys.modules if name.startswith("dens_outside")]:
        del sys.modules[name]


def test_the_page_shows_the_package_as_it_is() -> None:
    page = PAGE.read_text("utf-8")
    shown = re.findall(r"```(?:python|toml)\n(.*?)```", page, re.DOTALL)
    files = [
        "pyproject.toml",
        *(f"dens_outside/{name}.py" for name in MEMBERS),
    ]
    assert shown == [(PACKAGE / name).read_text("utf-8") for name in files]
    for group in ("policies", "mobility", "forwarding", "languages", "metrics", "sources"):
        assert f"dens.{group}" in page


def test_the_policy_gives_as_many_copies_as_it_may(outside: ModuleType) -> None:
    from dens.overlay.wire.item import Item

    policy = outside.two_hop.TWO_HOP(1, relays=3)

    def with_code(copies: int) -> Item:
        return Item(35, 1, 7, 1, 0, 90, 1, b"x", copies)

    item, given = with_code(0), 0
    while (share := policy.share(item, (), 3, 0)) is not None:
        assert policy.share(with_code(share), (), 4, 0) is None, "a relay shares no copies"
        item, given = with_code(policy.kept(item, share)), given + 1
    assert given == 3


def test_the_walks_are_circles(outside: ModuleType) -> None:
    model = outside.circle.CircleTable(model="circle", radius_m=30).mobility()
    chance = np.random.default_rng(4)
    (legs,) = model.walks(Area(200.0, 100.0), 600_000.0, [chance], chance)
    assert legs.begin_ms[0] == 0.0
    assert legs.end_ms[-1] == 600_000.0
    assert (legs.begin_ms[1:] == legs.end_ms[:-1]).all()
    middle = (legs.x0_m.max() + legs.x0_m.min()) / 2, (legs.y0_m.max() + legs.y0_m.min()) / 2
    away = np.hypot(legs.x0_m - middle[0], legs.y0_m - middle[1])
    assert away == pytest.approx(np.full(len(legs), 30.0), rel=0.02)


def test_the_router_goes_where_most_others_are(outside: ModuleType) -> None:
    known = KnownTopology(6)
    for link in ((0, 1), (0, 2), (2, 3), (3, 4)):
        known.change(*link, True)
    router = outside.widest_neighbour.WidestNeighbour(known)
    assert [router.next_hop(node, 4) for node in range(6)] == [2, 0, 0, 4, 3, None], "a loop of 0 and 2"


def test_the_language_lets_pass_what_matches(outside: ModuleType) -> None:
    from watchdog.vector import VectorError

    language = outside.topics.TOPICS
    source, node = language.source_filter(None), language.matcher(None)
    for matcher in (source, node):
        matcher.add((5, 0), b"tide")
        matcher.add((6, 0), b"fog")
    (release,) = source.offer(b"tide\0high at noon")
    assert [match.key for match in node.match(release.vector, 0, 0)] == [(5, 0)]
    assert source.offer(b"wind\0gale") == []
    assert dict(node.match_batch([(b"fog\0dense", 0)], 0)) == {0: node.match(b"fog\0dense", 0, 0)}
    for verb in (node.match, lambda vector, *_: source.offer(vector)):
        with pytest.raises(VectorError):
            verb(b"no zero byte", 0, 0)


def test_the_source_is_found_and_starts_only_where_there_is_a_file(
    outside: ModuleType, tmp_path: Path
) -> None:
    known = source_kinds([entry(SOURCES_GROUP, "dens_outside.latest_values:LATEST_VALUES")])
    kind = known["file", "application/json"]
    place = tmp_path / "now.json"
    event = load_mission_table(["weather"]).event("weather")
    counters = {"missing": 0, "clipped": 0}
    order = SourceOrder(str(place), event, frozenset(), lambda problem: None, counters)
    source = made_source(kind, order)
    with pytest.raises(OSError, match=r"now\.json"):
        source.start()
    place.write_text('{"temperature": 21.5, "humidity": 400}')
    source.start()
    reading = ExactReading(1)
    assert source.read_into(reading, 7)
    assert reading.has(event.attribute("temperature").index)
    assert not reading.has(event.attribute("humidity").index), "outside of its domain"
    assert counters["missing"] == len(event.attributes) - 1
    assert not source.is_over
    with pytest.raises(OutsidePackageError, match="source latest_values cannot be made: it raised"):
        made_source(kind, None)  # type: ignore[arg-type]


def test_a_command_names_the_source_by_its_pair(site: Path, tmp_path: Path) -> None:
    (tmp_path / "node.toml").write_text('node = 1\nstore = "n"\n[udp]\naddress = "127.0.0.1:0"\n')
    words = ["--at", "127.0.0.1:9", "--wait", "0", "--on-demand", "--content-type", "application/json"]
    ended = dens(site, tmp_path, "node", "publish", "node.toml", "now.json", "--event", "weather", *words)
    assert "no subscription needs this source" in ended.stderr
    assert "Traceback" not in ended.stderr
    ended = dens(tmp_path, tmp_path, "node", "publish", "node.toml", "now.json", "--event", "weather", *words)
    assert "nothing here reads protocol file with application/json" in ended.stderr
    assert ended.returncode == 3

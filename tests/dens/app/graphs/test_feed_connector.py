"""A folder of feeds in, a feed a subscription out: what matches is there, once, also after a restart."""

import json
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from typer.testing import CliRunner

from dens.app.graphs.feed_connector import Connector, Looked, looks
from dens.app.graphs.feed_state import Change, load_state
from dens.cli.main import app
from knowledge_manager.feeds.reader import read_feed
from knowledge_manager.mission_table import load_mission_table
from plugins.registry import language_named

PREFIXES = (
    "PREFIX rss: <http://purl.org/rss/1.0/> PREFIX dc: <http://purl.org/dc/elements/1.1/> "
    "PREFIX t: <urn:dens:hazard:> PREFIX g: <urn:dens:graph:1#> "
)
FLOODS = PREFIXES + "SELECT * { ?i a rss:item ; dc:subject ?t . FILTER(g:isA(?t, t:flood)) }"
FIRES = FLOODS.replace("t:flood", "t:wildfire")


def item(number: int, title: str, topic: str = "", text: str = "") -> str:
    return (
        f"<item><guid>https://example.org/{number}</guid><title>{escape(title)}</title>"
        f"<pubDate>Sat, 02 May 2026 06:{number:02}:00 GMT</pubDate><category>{topic}</category>"
        f"<description>{escape(text)}</description></item>"
    )


class Site:
    """A site that writes feeds, and a connector that can be restarted."""

    def __init__(self, folder: Path) -> None:
        self.feeds, self.out, self.subscriptions = (folder / name for name in ("in", "out", "subscriptions"))
        for one in (self.feeds, self.out, self.subscriptions):
            one.mkdir()
        self.restart()

    def restart(self) -> None:
        self.connector = Connector(
            self.feeds,
            self.out,
            self.subscriptions,
            load_mission_table(["reports"]),
            language_named("graph"),
            load_state(self.out),
        )

    def writes(self, *items: str, name: str = "news.rss") -> None:
        text = f"<rss><channel><link>https://example.org/</link>{''.join(items)}</channel></rss>"
        (self.feeds / name).write_text(text)

    def look(self) -> Looked:
        return self.connector.look()

    def found(self, number: int) -> list[str]:
        feed = read_feed((self.out / f"subscription-{number}.rss").read_bytes(), "out")
        assert not feed.problems
        return [one.subject.text.removeprefix("https://example.org/") for one in feed.items]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    found = Site(tmp_path)
    (found.subscriptions / "floods.rq").write_text(FLOODS)
    return found


def test_what_matches_is_in_the_feed_the_newest_first(site: Site) -> None:
    site.writes(
        item(3, "River rises", "flood"), item(2, "Smoke", "wildfire"), item(1, "Dam leaks", "flash flood")
    )
    assert site.look() == Looked(Change(3, 0, 0), 1, 2, ())
    assert site.found(1) == ["3", "1"]
    assert json.loads((site.out / "subscriptions.json").read_text()) == [
        {"number": 1, "title": "floods", "source": "file floods.rq", "items": 2}
    ]


def test_items_change_are_taken_back_and_pushed_out_also_over_a_restart(site: Site) -> None:
    site.writes(item(2, "River rises", "flood"), item(1, "Dam leaks", "flood"))
    site.look()
    site.restart()
    assert site.look().change == Change()
    site.writes(item(2, "It was a fire", "wildfire"), item(1, "Dam leaks", "flood"))
    assert site.look().change == Change(0, 1, 0)
    assert site.found(1) == ["1"]
    site.restart()
    site.writes(item(3, "Storm surge", "storm surge"), item(2, "It was a fire", "wildfire"))
    assert site.look().change == Change(1, 0, 0)
    assert site.found(1) == ["3", "1"], "1 was pushed out of the feed, not taken back"
    site.writes(item(2, "It was a fire", "wildfire"))
    assert site.look().change == Change(0, 0, 1)
    assert site.found(1) == ["1"]


def test_a_gql_item_is_a_subscription_with_a_number_of_its_own(site: Site) -> None:
    asks = item(9, "GQL: fires", text=f"<p>{escape(FIRES)}</p>")
    site.writes(asks, item(2, "Smoke", "wildfire"), item(1, "Dam leaks", "flood"))
    assert site.look() == Looked(Change(2, 0, 0), 2, 2, ()), "a subscription does not count as a publication"
    assert (site.found(1), site.found(2)) == (["1"], ["2"])
    site.restart()
    site.writes(item(2, "Smoke", "wildfire"), item(1, "Dam leaks", "flood"))
    site.look()
    assert not (site.out / "subscription-2.rss").exists()
    site.writes(item(8, "GQL again", text=FIRES), item(2, "Smoke", "wildfire"), item(1, "Dam leaks", "flood"))
    site.look()
    assert site.found(3) == ["2"], "a number is never given twice"


def test_a_late_subscription_finds_what_was_there_before(site: Site) -> None:
    site.writes(item(2, "Smoke", "wildfire"))
    site.look()
    (site.subscriptions / "fires.rq").write_text(FIRES)
    site.look()
    assert site.found(2) == ["2"]


def test_errors_are_reported_and_the_rest_is_processed(site: Site) -> None:
    site.writes(
        item(1, "Dam leaks", "flood"),
        "\n<item><author>who?</author></item>",
        "\n" + item(7, "GQL", text="SELECT"),
    )
    (site.feeds / "torn.rss").write_text("<rss>")
    (site.subscriptions / "bad.rq").write_text("ASK { ?s ?p ?o }")
    looked = site.look()
    assert looked.matches == 1
    assert [(Path(one.file).name, one.line, one.code) for one in looked.problems[1:]] == [
        ("news.rss", 2, "D527"),
        ("news.rss", 3, looked.problems[2].code),
        ("torn.rss", 1, "D525"),
    ]
    assert Path(looked.problems[0].file).name == "bad.rq"
    assert '"GQL": ' in looked.problems[2].message


def test_a_feed_that_is_torn_for_a_moment_changes_nothing(site: Site) -> None:
    site.writes(item(1, "Dam leaks", "flood"))
    site.look()
    whole = (site.feeds / "news.rss").read_bytes()
    (site.feeds / "news.rss").write_bytes(whole[:-20])
    assert [one.code for one in site.look().problems] == ["D525"]
    assert site.found(1) == ["1"]
    (site.feeds / "news.rss").write_bytes(whole)
    assert site.look() == Looked(Change(), 1, 1, ())


def test_an_item_beyond_most_bytes_is_refused_at_its_place(site: Site) -> None:
    site.writes("\n" + item(1, "long " * 1000, "flood"), item(2, "River", "flood"))
    looked = site.look()
    assert [(one.line, one.code) for one in looked.problems] == [(2, "D504")]
    assert site.found(1) == ["2"]


def test_names_of_files_never_come_from_feeds(site: Site) -> None:
    site.writes("<item><guid>../../evil</guid><title>GQL ../../x</title><description>"
                f"{escape(FLOODS)}</description></item>")  # fmt: skip
    site.look()
    assert {one.name for one in site.out.iterdir()} == {
        "state.json",
        "subscriptions.json",
        "subscription-1.rss",
        "subscription-2.rss",
    }


def test_following_reports_new_items_once(site: Site) -> None:
    site.writes(item(1, "Dam leaks", "flood"))
    waits = iter(["", "", item(2, "River", "flood"), "", "end"])

    def wait(seconds: float) -> None:
        step = next(waits)
        if step == "end":
            raise KeyboardInterrupt
        if step:
            site.writes(step, item(1, "Dam leaks", "flood"))

    told = looks(site.connector, 0.1, wait)
    assert [next(told).change.new, next(told).change.new] == [1, 1]
    with pytest.raises(KeyboardInterrupt):
        next(told)


def test_the_command_ends_1_where_something_could_not_be_read(site: Site, tmp_path: Path) -> None:
    site.writes(item(1, "Dam leaks", "flood"))
    words = [
        "graph",
        "feed",
        str(site.feeds),
        str(tmp_path / "o"),
        "--subscriptions",
        str(site.subscriptions),
    ]
    done = CliRunner().invoke(app, [*words, "--json"])
    assert (done.exit_code, json.loads(done.stdout)["matches"]) == (0, 1)
    (site.feeds / "torn.rss").write_text("<rss>")
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert "0 new, 0 changed, 0 withdrawn; 1 subscriptions, 1 matches" in done.stdout

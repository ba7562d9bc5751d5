"""A real content management system: Wagtail publishes, edits and deletes, and a user subscribes in it."""

import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from dens.app.graphs.feed_connector import Connector
from dens.app.graphs.feed_state import Change, load_state
from knowledge_manager.feeds.reader import read_feed
from knowledge_manager.mission_table import load_mission_table
from plugins.registry import language_named

SITE = Path(__file__).parent / "cms_site" / "county_site.py"
QUERY = """PREFIX rss: <http://purl.org/rss/1.0/>
PREFIX dc: <http://purl.org/dc/elements/1.1/>
PREFIX t: <urn:dens:hazard:>
PREFIX g: <urn:dens:graph:1#>
SELECT * { ?i a rss:item ; dc:subject ?t . FILTER(g:isA(?t, t:flood)) }"""


class Site:
    """A Wagtail site in a folder, and the connector beside it, started again for every look."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.feeds, self.out = folder / "site", folder / "in", folder / "out"
        for one in (self.folder, self.feeds, self.out):
            one.mkdir()

    def does(self, *words: str) -> str:
        asked = [sys.executable, str(SITE), str(self.folder), *words]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def look(self) -> tuple[Change, list[str]]:
        """Let the site write its feed, connect, and return the titles that the subscription has."""
        self.does("feed", str(self.feeds / "news.xml"))
        table, language = load_mission_table(["reports"]), language_named("graph")
        looked = Connector(self.feeds, self.out, None, table, language, load_state(self.out)).look()
        assert looked.problems == ()
        path = self.out / "subscription-1.rss"
        titles = [item.title for item in read_feed(path.read_bytes(), "out").items] if path.exists() else []
        return looked.change, titles


def test_a_wagtail_site_is_connected_by_its_own_feed(tmp_path: Path) -> None:
    site = Site(tmp_path)
    dam = site.does("publish", "Dam at Skjelv leaks", "<p>Water comes through.</p>", "flash flood")
    site.does("publish", "Smoke at Nes", "<p>Seen from the road.</p>", "wildfire")
    assert site.look() == (Change(2, 0, 0), [])
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in QUERY.splitlines())
    wish = site.does("publish", "GQL floods of the county", paragraphs, "")
    assert site.look() == (Change(0, 0, 0), ["Dam at Skjelv leaks"])
    river = site.does("publish", "River rises", "<p>At the bridge.</p>", "river flood")
    assert site.look() == (Change(1, 0, 0), ["River rises", "Dam at Skjelv leaks"])
    site.does("edit", dam, "Dam at Skjelv was on fire", "<p>No water.</p>", "wildfire")
    assert site.look() == (Change(0, 1, 0), ["River rises"])
    site.does("delete", river)
    assert site.look() == (Change(0, 0, 1), [])
    site.does("edit", dam, "Dam at Skjelv leaks after all", "<p>Water.</p>", "flood")
    assert site.look() == (Change(0, 1, 0), ["Dam at Skjelv leaks after all"])
    site.does("unpublish", wish)
    site.look()
    assert not (site.out / "subscription-1.rss").exists()

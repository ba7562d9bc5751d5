"""Feeds: what of each kind becomes which statement, what is refused, and that hostile ones cost nothing."""

import socket
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from knowledge_manager.feeds.item import CAP, DC, DCTERMS, GEO, RSS, Feed, FeedItem
from knowledge_manager.feeds.reader import read_feed
from knowledge_manager.feeds.text import LONGEST_TEXT, moment, plain, plain_query, shortened
from knowledge_manager.feeds.tree import LARGEST_FEED
from knowledge_manager.graphs.terms import RDF, XSD, Blank, Iri, Literal, written
from tests.knowledge_manager.graphs.install_feeds import FEEDS

RSS_2 = """<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:georss="http://www.georss.org/georss" xmlns:x="https://example.org/words"
  xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>County</title><link>https://example.org/</link><language>en-GB</language>
<item>
  <guid isPermaLink="false">n 41</guid><title>Dam at Skjelv &lt;b&gt;leaks&lt;/b&gt;</title>
  <link>https://example.org/n/41</link><pubDate>Sat, 02 May 2026 08:30:00 +0200</pubDate>
  <description>&lt;p&gt;Water &amp;amp; mud.&lt;/p&gt;&lt;p&gt;Keep away.&lt;/p&gt;</description>
  <content:encoded>&lt;p&gt;A body that never travels.&lt;/p&gt;</content:encoded>
  <enclosure url="https://example.org/a.mp3" length="1" type="audio/mpeg"/>
  <author>ola@example.org (Ola Nordmann)</author><category>flash flood</category>
  <georss:point>61.5 8.25</georss:point><x:level>4.67</x:level><x:nested><x:y>no</x:y></x:nested>
</item></channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="nb" xml:base="https://example.org/"
  xmlns:cap="urn:oasis:names:tc:emergency:cap:1.1">
<id>tag:example.org,2026:all</id><title>Varsel</title>
<entry><id>tag:example.org,2026:41</id><title type="html">Flom &amp;amp; skred</title>
  <link rel="self" href="self"/><link href="n/41"/><updated>2026-05-02T06:30:00Z</updated>
  <summary type="text">1 &lt; 2</summary><author><name>NVE</name><email>x@y.z</email></author>
  <category term="flood" label="Flom"/>
  <cap:event>Flood</cap:event><cap:severity>Severe</cap:severity><cap:urgency>Immediate</cap:urgency>
  <cap:certainty>Likely</cap:certainty><cap:areaDesc>Skjelv</cap:areaDesc>
  <cap:expires>2026-05-03T06:30:00+02:00</cap:expires><cap:status>Actual</cap:status>
</entry></feed>"""

RSS_1 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
  xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:foaf="http://xmlns.com/foaf/0.1/">
<channel rdf:about="https://example.org/"><title>County</title><link>https://example.org/</link>
  <dc:language>en</dc:language></channel>
<item rdf:about="https://example.org/n/41"><title>Dam leaks</title><link>https://example.org/n/41</link>
  <description>&lt;i&gt;Water&lt;/i&gt;</description><dc:date>2026-05-02T06:30Z</dc:date>
  <dc:subject rdf:resource="urn:dens:hazard:flashFlood"/>
  <dc:creator><foaf:Person><foaf:name>Ola</foaf:name></foaf:Person></dc:creator></item></rdf:RDF>"""


def feed(text: str) -> Feed:
    return read_feed(text.encode(), "feed.rss")


def only(text: str) -> FeedItem:
    [item] = feed(text).items
    return item


def stated(item: FeedItem) -> set[tuple[str, str]]:
    return {(str(getattr(one.property, "text", "")), written(one.object)) for one in item.graph}


def test_an_item_of_rss_2() -> None:
    item = only(RSS_2)
    assert item.subject == Iri("urn:dens:item:n%2041")
    assert stated(item) == {
        (RDF + "type", f"<{RSS}item>"),
        (RSS + "title", '"Dam at Skjelv leaks"@en-gb'),
        (RSS + "link", '"https://example.org/n/41"'),
        (RSS + "description", '"Water & mud. Keep away."@en-gb'),
        (DC + "date", f'"2026-05-02T06:30:00Z"^^<{XSD}dateTime>'),
        (DC + "creator", '"Ola Nordmann"'),
        (DC + "subject", '"flash flood"'),
        (DCTERMS + "isPartOf", "<https://example.org/>"),
        (GEO + "lat", f'"61.5"^^<{XSD}decimal>'),
        (GEO + "long", f'"8.25"^^<{XSD}decimal>'),
        ("https://example.org/words#level", '"4.67"'),
    }
    assert item.text.startswith("<p>Water &amp; mud.</p>")


def test_an_item_of_an_emergency_feed_in_atom() -> None:
    item = only(ATOM)
    assert item.subject == Iri("tag:example.org,2026:41")
    assert stated(item) == {
        (RDF + "type", f"<{RSS}item>"),
        (RSS + "title", '"Flom & skred"@nb'),
        (RSS + "link", '"https://example.org/n/41"'),
        (RSS + "description", '"1 < 2"@nb'),
        (DC + "date", f'"2026-05-02T06:30:00Z"^^<{XSD}dateTime>'),
        (DC + "creator", '"NVE"'),
        (DC + "subject", '"Flom"'),
        (DCTERMS + "isPartOf", "<tag:example.org,2026:all>"),
        (CAP + "event", '"Flood"'),
        (CAP + "severity", '"Severe"'),
        (CAP + "urgency", '"Immediate"'),
        (CAP + "certainty", '"Likely"'),
        (CAP + "areaDesc", '"Skjelv"'),
        (CAP + "expires", f'"2026-05-03T04:30:00Z"^^<{XSD}dateTime>'),
    }


def test_an_item_of_rss_1_is_the_rdf_that_it_is() -> None:
    item = only(RSS_1)
    assert stated(item) == {
        (RDF + "type", f"<{RSS}item>"),
        (RDF + "type", "<http://xmlns.com/foaf/0.1/Person>"),
        ("http://xmlns.com/foaf/0.1/name", '"Ola"'),
        (RSS + "title", '"Dam leaks"@en'),
        (RSS + "link", '"https://example.org/n/41"'),
        (RSS + "description", '"Water"@en'),
        (DC + "date", f'"2026-05-02T06:30:00Z"^^<{XSD}dateTime>'),
        (DC + "subject", "<urn:dens:hazard:flashFlood>"),
        (DC + "creator", "_:b0"),
        (DCTERMS + "isPartOf", "<https://example.org/>"),
    }
    assert {one.subject for one in item.graph} == {item.subject, Blank(0)}


def test_subjects_that_name_one_class_have_it_beside_the_word() -> None:
    known = Iri("urn:dens:hazard:flashFlood")
    item = only(RSS_2).with_classes({"flash flood": known}.get)
    assert {one.object for one in item.graph if one.property == Iri(DC + "subject")} == {
        known,
        Literal("flash flood"),
    }


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("<rss><item><link>https://example.org/1</link></item></rss>", "https://example.org/1"),
        (
            "<CHANNEL><ITEM HREF='https://example.org/1'><TITLE>a</TITLE></ITEM></CHANNEL>",
            "https://example.org/1",
        ),
        ("<feed><entry><id>urn:x:1</id></entry></feed>", "urn:x:1"),
        ("<rss><item><guid>{}</guid></item></rss>".format("é" * 300), "urn:dens:item:7250"),
    ],
)
def test_who_an_item_is(text: str, subject: str) -> None:
    assert only(text).subject.text.startswith(subject)
    assert len(only(text).subject.text) < 100


def test_items_with_missing_or_duplicate_identity_are_reported_and_others_read() -> None:
    found = feed(
        "<rss><channel>\n<item><author>a</author></item>\n<item><guid>x:1</guid></item>\n"
        "<item><guid>x:1</guid></item></channel></rss>"
    )
    assert [item.subject.text for item in found.items] == ["x:1"]
    assert [str(problem) for problem in found.problems] == [
        "feed.rss:2:1: warning D527: an item has no identity, title or description; give it a guid, an id or "
        "a link; it is skipped",
        "feed.rss:4:1: warning D527: an earlier item has the same identity x:1; this one is skipped",
    ]


def unnamed_feed(kind: str, channel: str, items: list[tuple[str, str]]) -> str:
    """Return a feed of items that have a title and a description, and nothing that names them."""
    if kind == "atom":
        entries = "".join(
            f"<entry><title>{title}</title><summary>{text}</summary></entry>" for title, text in items
        )
        return f'<feed xmlns="http://www.w3.org/2005/Atom"><id>{channel}</id>{entries}</feed>'
    inner = "".join(
        f"<item><title>{title}</title><description>{text}</description></item>" for title, text in items
    )
    if kind == "rss":
        return f"<rss><channel><link>{channel}</link>{inner}</channel></rss>"
    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
        f'<channel rdf:about="{channel}"/>{inner}</rdf:RDF>'
    )


WORDS = st.text(alphabet="ab ", max_size=3)


@given(
    st.sampled_from(["rss", "atom", "rdf"]),
    st.lists(st.tuples(WORDS, WORDS), max_size=5),
    st.permutations(range(5)),
)
def test_items_that_nothing_names_are_known_by_what_they_say(
    kind: str, items: list[tuple[str, str]], order: list[int]
) -> None:
    """Each distinct text is one item, the same wherever it stands in the feed, another in another feed."""
    distinct = {(" ".join(title.split()), " ".join(text.split())) for title, text in items} - {("", "")}
    mixed = [items[at] for at in order if at < len(items)]
    one, again, other = (
        feed(unnamed_feed(kind, channel, some))
        for channel, some in (("x:1", items), ("x:1", mixed), ("x:2", items))
    )
    subjects = {item.subject for item in one.items}
    assert len(subjects) == len(one.items) == len(distinct)
    assert subjects == {item.subject for item in again.items}
    assert subjects.isdisjoint({item.subject for item in other.items})
    assert len(one.items) + len(one.problems) == len(items)


def test_item_without_valid_rdf_does_not_affect_others() -> None:
    broken = RSS_1.replace(
        "</rdf:RDF>", '<item rdf:about="x:2"><dc:x rdf:parseType="y" rdf:ID="1 2"/></item></rdf:RDF>'
    )
    found = feed(broken)
    assert len(found.items) == 1
    assert [problem.code for problem in found.problems] == ["D527"]


@pytest.mark.parametrize(
    ("source", "code", "place", "message"),
    [
        (b"<rss>\n<item></rss>", "D525", (2, 13), "incomplete"),
        (b"", "D525", (1, 1), "empty"),
        (b"<html/>", "D525", (1, 1), "<html> is not a feed"),
        (b'<?xml version="1.0" encoding="utf-8"?><rss>\xff</rss>', "D526", (1, 44), "encoding"),
        (b'<?xml version="1.0" encoding="klingon"?><rss/>', "D526", (1, 39), "klingon"),
    ],
)
def test_invalid_feed_is_refused_at_its_place(
    source: bytes, code: str, place: tuple[int, int], message: str
) -> None:
    with pytest.raises(DocumentError, match=message) as caught:
        read_feed(source, "f.rss")
    [problem] = caught.value.problems
    assert (problem.code, (problem.line, problem.column)) == (code, place)


def test_a_feed_beyond_16_mb_is_refused_unread() -> None:
    with pytest.raises(DocumentError, match="D003"):
        read_feed(b"<rss>" + b" " * LARGEST_FEED, "f.rss")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def bomb(inside: str) -> str:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 20}">' for n in range(1, 9))
    return f'<!DOCTYPE rss [<!ENTITY l0 "ha">{levels}]><rss><item><guid>x:1</guid>{inside}</item></rss>'


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("inside", ["<title>&l8;</title>", '<title a="&l8;">t</title>'])
def test_entities_that_grow_are_stopped(inside: str) -> None:
    with pytest.raises(DocumentError, match="D525"):
        feed(bomb(inside))


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    "declared", ['SYSTEM "file:///etc/hostname"', 'SYSTEM "https://example.org/x"', '"declared"']
)
def test_what_a_doctype_declares_is_never_used(declared: str) -> None:
    text = (
        f"<!DOCTYPE rss [<!ENTITY e {declared}>]><rss><item><guid>x:1</guid><title>&e; b</title></item></rss>"
    )
    assert only(text).title == "&e; b"


@pytest.mark.usefixtures("no_network")
def test_a_doctype_by_address_is_left_alone_and_characters_of_html_are_known() -> None:
    text = (
        '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "https://example.org/rss.dtd">'
        "<rss><item><guid>x:1</guid><title>a&nbsp;b&eacute;</title></item></rss>"
    )
    assert only(text).title == "a bé"


@given(st.text(alphabet="<>&;/\"'= abé:pb!-[]", max_size=60))
def test_any_markup_is_read_and_cut(markup: str) -> None:
    item = only(f"<rss><item><guid>x:1</guid><description>{escape(markup * 9)}</description></item></rss>")
    told = [one.object for one in item.graph if one.property == Iri(RSS + "description")]
    assert all(isinstance(one, Literal) and 0 < len(one.text) <= LONGEST_TEXT for one in told)
    assert plain_query(escape(markup)).split() == markup.split()


def test_text_is_cut_at_a_word() -> None:
    assert shortened("a" * 160) == "a" * 160
    assert shortened("word " * 40) == "word " * 31 + "word…"
    assert shortened("x" * 300) == "x" * 159 + "…"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-05-02T08:30:00+02:00", ("2026-05-02T06:30:00Z", "dateTime")),
        ("2026-05-02T08:30:00+0200", ("2026-05-02T06:30:00Z", "dateTime")),
        ("2026-05-02T06:30Z", ("2026-05-02T06:30:00Z", "dateTime")),
        ("Sat, 02 May 2026 06:30:00 GMT", ("2026-05-02T06:30:00Z", "dateTime")),
        ("2026-05-02", ("2026-05-02", "date")),
        ("2026-05-32", ("2026-05-32", "string")),
        ("last Tuesday", ("last Tuesday", "string")),
    ],
)
def test_dates_as_feeds_write_them(text: str, found: tuple[str, str]) -> None:
    assert moment(text) == Literal(found[0], XSD + found[1])


def test_a_query_that_went_through_an_editor_is_the_query() -> None:
    query = "PREFIX t: <urn:dens:hazard:>\nSELECT * { ?i a t:x . FILTER(?l >= 4 && ?l < 9) }"
    edited = "".join(
        f"<p>{line.replace('&', '&amp;').replace('<', '&lt;')}</p>" for line in query.splitlines()
    )
    assert plain_query(query) == query
    assert [line for line in plain_query(edited).splitlines() if line] == query.splitlines()
    assert plain("<p>a</p>b") == "a b"


@pytest.mark.slow
@pytest.mark.usefixtures("no_network")
def test_the_feeds_of_feedparsers_own_tests() -> None:
    """All that are well-formed are read; whatever is not is refused, with a place and without a crash."""
    assert FEEDS.is_dir(), (
        "fetch them with tests/knowledge_manager/graphs/install_feeds.py (`make test` does)"
    )
    items = left_out = 0
    read = {"wellformed": 0, "others": 0}
    refused = {"wellformed": 0, "others": 0}
    codes: set[str] = set()
    for path in sorted(FEEDS.rglob("*.xml")):
        kind = "wellformed" if "wellformed" in path.parts else "others"
        try:
            found = read_feed(path.read_bytes(), path.name)
            read[kind] += 1
            items += len(found.items)
            left_out += len(found.problems)
        except DocumentError as error:
            refused[kind] += 1
            codes |= {problem.code for problem in error.problems if problem.line}
    assert (read["wellformed"], refused["wellformed"]) == (1738, 1)
    assert read["others"] + refused["others"] == 503
    assert (items, left_out) == (788, 403), "left out is what has neither identity nor title nor description"
    assert codes == {"D525", "D526"}

"""`dens graph index`, `filter`, `feed`, `read` and `taxonomy --from`: what they say, and how they end."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dens.cli.main import _run, app

QUERY = (
    "PREFIX rss: <http://purl.org/rss/1.0/> PREFIX dc: <http://purl.org/dc/elements/1.1/> "
    "PREFIX t: <urn:dens:hazard:> PREFIX g: <urn:dens:graph:1#> "
    "SELECT * { ?i a rss:item ; dc:subject ?t . FILTER(g:isA(?t, t:%s)) }"
)
PATTERN = "00007400002003010569f3ed00030100050500020600010218122500"
FEED = """<rss><channel><link>https://example.org/</link>
<item><guid>https://example.org/1</guid><title>Dam leaks</title><category>flood</category></item>
<item><author>anonymous</author></item></channel></rss>"""
REPORTS = ("--vocabulary", "reports")


def dens(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


def ended(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    """Return exit code and the error message as displayed."""
    code = _run([str(word) for word in words], debug=False)
    return code, capsys.readouterr().err


@pytest.fixture
def wishes(tmp_path: Path) -> Path:
    folder = tmp_path / "subscriptions"
    (folder / "north").mkdir(parents=True)
    (folder / "floods.rq").write_text(QUERY % "flood")
    (folder / "north" / "fires.rq").write_text(QUERY % "wildfire")
    return folder


def test_an_index_has_a_new_version_each_time_and_the_names_of_its_documents(
    wishes: Path, tmp_path: Path
) -> None:
    made = [dens("graph", "index", wishes, "-o", tmp_path / "i", *REPORTS, "--json") for _ in range(2)]
    documents = [json.loads(out) for code, out, _ in made if code == 0]
    assert [one["version"] for one in documents] == [1, 2]
    assert documents[0]["subscriptions"] == 2
    names = json.loads((tmp_path / "i" / "version-0001" / "names.json").read_text())
    assert names == ["floods.rq", "north/fires.rq"]
    code, out, _ = dens("graph", "index", wishes, "-o", tmp_path / "i", *REPORTS)
    assert (code, "version-0003: 2 subscriptions, " in out) == (0, True)


def test_an_index_of_lines_names_lines(tmp_path: Path) -> None:
    (tmp_path / "subscriptions.hex").write_text(f"{PATTERN}\n\n{PATTERN}\n")
    code, out, _ = dens(
        "graph", "index", tmp_path / "subscriptions.hex", "-o", tmp_path / "i", *REPORTS, "--json"
    )
    assert (code, json.loads(out)["subscriptions"]) == (0, 2)
    assert json.loads((tmp_path / "i" / "version-0001" / "names.json").read_text()) == ["line 1", "line 3"]


def test_all_errors_of_subscriptions_are_reported_at_once(
    wishes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (wishes / "a.rq").write_text("SELECT * { ?s ?p ?o }")
    (wishes / "b.xml").write_text("<subscription")
    code, said = ended(capsys, "graph", "index", wishes, "-o", tmp_path / "i", *REPORTS)
    assert code == 3
    assert "a.rq" in said
    assert "b.xml:1:" in said
    assert not (tmp_path / "i").exists()
    (tmp_path / "bad.hex").write_text(f"{PATTERN}\nxyz\n{PATTERN[:-2]}\n")
    code, said = ended(capsys, "graph", "index", tmp_path / "bad.hex", "-o", tmp_path / "i", *REPORTS)
    assert (code, "bad.hex:2:1: error D401" in said, "bad.hex:3:1: error D401" in said) == (3, True, True)
    (tmp_path / "empty").mkdir()
    code, said = ended(capsys, "graph", "index", tmp_path / "empty", "-o", tmp_path / "i", *REPORTS)
    assert (code, "D523" in said) == (3, True)


def test_an_index_that_cannot_be_used_is_refused_before_spark_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "subscriptions.hex").write_text(PATTERN)
    index, told = tmp_path / "i", tmp_path / "notifications.hex"
    assert dens("graph", "index", tmp_path / "subscriptions.hex", "-o", index, *REPORTS)[0] == 0
    words = ("graph", "filter", index, told, "-o", tmp_path / "o")
    code, said = ended(capsys, *words, "--vocabulary", "medical")
    assert (code, "D528: the index was made with another mission table" in said) == (3, True)
    (index / "version-0001" / "ends.npy").write_bytes(b"x")
    code, said = ended(capsys, *words, *REPORTS)
    assert (code, "D528: ends.npy is damaged" in said, "Spark" in said) == (3, True, False)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--shards", "2"], "replicate has no shards"),
        (["--follow", "--plan", "random"], "--follow supports only --plan replicate"),
        (["--once"], "--once is for --follow"),
        (["--plan", "best"], "containment"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    code, said = ended(capsys, "graph", "filter", tmp_path, tmp_path, "-o", tmp_path, *options)
    assert (code, says in said) == (2, True)


def test_items_of_a_feed_are_publications(tmp_path: Path) -> None:
    (tmp_path / "news.rss").write_text(FEED)
    code, out, err = dens("graph", "read", tmp_path / "news.rss", "-o", tmp_path / "o", *REPORTS)
    assert code == 1, "one item could not be read"
    assert "news.rss:3:1: warning D527" in err
    [path] = (tmp_path / "o").iterdir()
    assert path.name == "news-1.nv"
    assert path.read_bytes().hex() in out


def test_a_folder_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ended(capsys, "graph", "feed", tmp_path / "in", tmp_path / "out")
    assert (code, "is not a folder" in said) == (3, True)
    code, said = ended(capsys, "graph", "feed", tmp_path, tmp_path)
    assert (code, "choose another one for output" in said) == (3, True)


def test_the_terms_of_a_site_become_a_taxonomy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    terms = tmp_path / "terms.json"
    terms.write_text(
        json.dumps(
            [
                {"id": 1, "link": "https://example.org/floods", "name": "Floods", "parent": 0},
                {"id": 2, "link": "https://example.org/flash", "name": "Flash floods", "parent": 1},
            ]
        )
    )
    code, out, _ = dens(
        "graph", "taxonomy", terms, "--from", "wordpress", "-o", tmp_path / "t.taxonomy", "--json"
    )
    assert (code, json.loads(out)["classes"]) == (
        0,
        {"https://example.org/floods": [], "https://example.org/flash": ["https://example.org/floods"]},
    )
    assert dens("graph", "taxonomy", tmp_path / "t.taxonomy", "--json")[0] == 0
    code, said = ended(capsys, "graph", "taxonomy", terms, "--from", "joomla")
    assert (code, "use one of wordpress, drupal" in said) == (2, True)

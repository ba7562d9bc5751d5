"""What is refused of graphs, from the terminal: each row of the specification's table ends with its code, its
place and what to do, and nothing else.
"""

from pathlib import Path

import pytest

from dens.config import exit_codes as exits

RSS = '<?xml version="1.0"?>\n<rss version="2.0"><channel><title>x</title><link>http://e.org/</link>\n'
RDFS = "@prefix s: <http://www.w3.org/2000/01/rdf-schema#> .\n@prefix e: <urn:e:> .\n"
CONTEXT = '"https://example.org/c.jsonld"'
IMPORT = f'{{"@context": [{{"@version": 1.1, "@import": {CONTEXT}}}], "a": 1}}'
FETCHED = f"D502: the context {CONTEXT} is not fetched; write the context into the file"
NO_IDENTITY = "an item has no identity, title or description; give it a guid, an id or a link; it is skipped"
STATEMENTS = {
    "doctype.rdf": (
        '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY a "b">]>\n<r/>',
        ":2:1: error D501: DOCTYPE is not supported; write the addresses out",
    ),
    "entity.rdf": (
        '<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><r>&b;</r>',
        ":1:1: error D501: DOCTYPE is not supported; write the addresses out",
    ),
    "address.jsonld": (f'{{"@context": {CONTEXT}, "a": 1}}', f":1:14: error {FETCHED}"),
    "import.jsonld": (IMPORT, f":1:44: error {FETCHED}"),
    "nested.jsonld": (
        f'{{"@context": {{"a": {{"@id": "urn:a", "@context": {CONTEXT}}}}}, "a": {{"b": 1}}}}',
        f":1:49: error {FETCHED}",
    ),
    "deep.ttl": (
        "<urn:a> <urn:b> " + "[ <urn:p> " * 900 + "1" + " ]" * 900 + " .",
        ":1:647: error D503: invalid turtle: brackets are nested 900 deep",
    ),
    "deep.jsonld": (
        '{"@id":"urn:a","urn:p":' * 900 + "1" + "}" * 900,
        ":1:1450: error D503: invalid json-ld: brackets are nested 900 deep",
    ),
    "digits.ttl": (
        "<urn:a> <urn:b> " + "1" * 5000 + " .",
        ":1:17: error D503: invalid turtle: a number of 5,000 digits is too long",
    ),
    "large.ttl": (
        '<urn:a> <urn:b> "' + "x" * 70_000 + '" .',
        ": error D003: is larger than 65536 bytes, the most that is read",
    ),
    "long.ttl": (
        '<urn:a> <urn:b> "' + "x" * 5000 + '" ; <urn:c> "' + "y" * 300 + '" .',
        f': error D504: 5341 bytes; a report has at most 4096. Its largest texts: "{"x" * 39}… (5000 bytes), '
        f'"{"y" * 39}… (300 bytes); shorten them, or raise most_bytes',
    ),
    "named.jsonld": (
        '{"@id":"urn:g","@graph":[{"@id":"urn:a","urn:p":{"@id":"urn:b"}}]}',
        ":1:9: error D505: named graphs are not supported (urn:g); write one graph per file",
    ),
    "quoted.ttl": (
        "<< <urn:a> <urn:b> <urn:c> >> <urn:d> 1 .",
        ":1:1: error D505: quoted triples (statements about statements) are not supported; use a node",
    ),
    "torn.rss": (
        RSS + "<item><title>y",
        ":3:15: error D525: the feed is incomplete or not XML",
    ),
}
QUERIES = {
    "OPTIONAL": ("{ ?i dc:subject ?x OPTIONAL { ?i dc:date ?d } }", "1:29", "D510: OPTIONAL is not"),
    "UNION": ("{ { ?i dc:subject ?x } UNION { ?i dc:date ?x } }", "1:33", "D510: UNION is not supported"),
    "or": ("{ ?i dc:date ?x FILTER(?x > 3 || ?x < 2) }", "1:40", 'D510: "||" is not supported'),
    "not": ("{ ?i dc:date ?x FILTER(!(?x > 3)) }", "1:33", 'D510: "!" is not supported'),
    "plus": ("{ ?i dc:subject+ ?x }", "1:15", "D510: this path is not supported"),
    "inverse": ("{ ?i ^dc:subject ?x }", "1:16", "D510: this path is not supported"),
    "alternative": ("{ ?i dc:date ?d .\n ?i dc:subject|dc:date ?x }", "2:5", "D510: this path is not"),
    "SERVICE": ("{ SERVICE <http://e.org/> { ?i dc:subject ?x } }", "1:12", "D510: SERVICE is not supported"),
    "FROM": ("FROM <http://e.org/> { ?i dc:subject ?x }", "1:10", "D510: FROM is not supported"),
    "property": ("{\n ?i ?p ?x }", "2:5", "D510: a property cannot be a variable"),
    "sub-query": ("{ { SELECT ?i { ?i dc:subject ?x } } }", "1:10", "D510: groups and sub-queries"),
    "LIMIT": ("{ ?i dc:subject ?x } LIMIT 5", "1:31", "D510: LIMIT is not supported"),
    "rings": (
        "{\n" + "\n".join(f"?{a} dc:p ?{b} ." for a in "abcde" for b in "abcde" if a < b) + "}",
        "9:4",
        "D511: too many connected rings; ?c, ?d, ?e, ?c is still a ring",
    ),
    "variables": (
        "{ " + " .\n".join(f"?v{at} dc:p ?v{at + 1}" for at in range(15)) + " }",
        "15:6",
        "D512: 16",
    ),
    "edges": ("{ ?v dc:p " + ",\n".join(f"<urn:x{at}>" for at in range(65)) + " }", "65:1", "D513: 65 edges"),
    "nothing": ("{ ?i dc:date ?x FILTER(?x > 5 && ?x < 3) }", "1:33", "D514: nothing can be ?x"),
    "class": ("{ ?i dc:subject ?x FILTER(g:isA(?x, t:flod)) }", "1:36", "D515: class t:flod is unknown"),
    "prefix": ("{ ?i dcc:subject ?x }", "1:15", 'D515: prefix "dcc" is unknown'),
    "function": ("{ ?i dc:date ?x FILTER(g:isa(?x, t:flood)) }", "1:33", "D515: function g:isa is unknown"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_invalid_publications(dens, tmp_path: Path, name: str) -> None:
    content, answer = STATEMENTS[name]
    (tmp_path / name).write_text(content)
    ended = dens("graph", "read", tmp_path / name)
    assert (ended.code, ended.out) == (exits.BAD_INPUT, "")
    [line] = ended.err.splitlines()
    assert line.startswith(f"{tmp_path / name}{answer}")


@pytest.mark.parametrize("name", QUERIES)
def test_what_no_pattern_can_ask(dens, tmp_path: Path, name: str) -> None:
    query, place, answer = QUERIES[name]
    path = tmp_path / "query.rq"
    path.write_text(f"SELECT * {query}")
    ended = dens("compile", path)
    assert (ended.code, ended.out) == (exits.BAD_INPUT, "")
    [line] = ended.err.splitlines()
    assert line.startswith(f"{path}:{place}: error {answer}")


def test_an_operator_that_is_none(dens, tmp_path: Path) -> None:
    path = tmp_path / "where.xml"
    edge = '<edge subject="?i" property="dc:subject" object="?x"/>'
    where = '<where variable="?x" operator="isa">t:flood</where>'
    path.write_text(f'<subscription xmlns="urn:dens:graph:1">{edge}\n{where}</subscription>')
    ended = dens("compile", path)
    assert ended.code == exits.BAD_INPUT
    assert ended.err.startswith(f'{path}:2:22: error D113: attribute "operator" of <where> is "isa"')
    assert 'did you mean "is-a"?' in ended.err


def test_classes_in_a_circle(dens, tmp_path: Path) -> None:
    path = tmp_path / "circle.ttl"
    path.write_text(RDFS + "e:x s:subClassOf e:a .\ne:a s:subClassOf e:b .\ne:b s:subClassOf e:a .\n")
    ended = dens("graph", "taxonomy", path)
    assert ended.code == exits.BAD_INPUT
    assert ended.err == (
        f"{path}:4:3: error D520: the class hierarchy has a cycle: a → b → a; remove one of these links\n"
    )


def test_what_is_imported_is_an_ordinary_statement(dens, tmp_path: Path) -> None:
    path = tmp_path / "imports.ttl"
    path.write_text("<urn:a> <http://www.w3.org/2002/07/owl#imports> <http://127.0.0.1:9/x> .")
    ended = dens("graph", "read", path)
    assert (ended.code, ended.err) == (exits.FINE, "")
    assert "<http://127.0.0.1:9/x>" in ended.out


def test_an_encoding_that_is_not_the_declared_one(dens, tmp_path: Path) -> None:
    path = tmp_path / "latin.rss"
    path.write_bytes(RSS.encode() + b"<item><title>\xff\xfe</title><guid>urn:i</guid></item></channel></rss>")
    ended = dens("graph", "read", path)
    assert ended.code == exits.BAD_INPUT
    assert ended.err.startswith(f"{path}:2:") or ended.err.startswith(f"{path}:3:")
    assert "error D526: the feed is not in its declared encoding" in ended.err


def test_the_other_items_of_a_feed_are_read(dens, tmp_path: Path) -> None:
    path = tmp_path / "news.rss"
    named = "<item><title>z</title><guid>urn:i:1</guid></item>"
    path.write_text(f"{RSS}<item><author>y</author></item>\n{named}</channel></rss>")
    ended = dens("graph", "read", path)
    assert ended.code == exits.FINDING
    assert ended.err == f"{path}:3:1: warning D527: {NO_IDENTITY}\n"
    assert "<urn:i:1>" in ended.out

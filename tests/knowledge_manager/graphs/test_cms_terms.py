"""Term trees of content management systems, as their own interfaces write them."""

import json
from typing import Any

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.feeds.cms_terms import cms_taxonomy
from knowledge_manager.feeds.item import class_by_label
from knowledge_manager.graphs.taxonomy import Taxonomy, TaxonomyLabel
from knowledge_manager.graphs.terms import Iri

WORDPRESS = [
    {
        "id": 2, "count": 3, "description": "", "link": "https://example.org/category/floods/",
        "name": "Floods &amp; rain", "slug": "floods", "taxonomy": "category", "parent": 0, "meta": [],
    },
    {
        "id": 7, "count": 1, "description": "", "link": "https://example.org/category/floods/flash/",
        "name": "Flash flood", "slug": "flash", "taxonomy": "category", "parent": 2, "meta": [],
    },
    {
        "id": 8, "count": 1, "description": "", "link": "https://example.org/category/lost/",
        "name": "Lost", "slug": "lost", "taxonomy": "category", "parent": 99, "meta": [],
    },
]  # fmt: skip


def drupal_term(uuid: str, name: str, *parents: str) -> dict[str, Any]:
    return {
        "type": "taxonomy_term--hazards",
        "id": uuid,
        "attributes": {"drupal_internal__tid": 1, "langcode": "nb", "name": name, "weight": 0},
        "relationships": {
            "parent": {"data": [{"type": "taxonomy_term--hazards", "id": parent} for parent in parents]}
        },
    }


FLOOD, FLASH, RAIN = (f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2, 3))
DRUPAL = {
    "jsonapi": {"version": "1.0"},
    "data": [
        drupal_term(FLOOD, "Flom", "virtual"),
        drupal_term(RAIN, "Regn", "virtual"),
        drupal_term(FLASH, "Styrtflom", FLOOD, RAIN),
    ],
}

ODD = {"id": "u", "attributes": {"name": "x"}, "relationships": {"parent": 3}}


def read(document: Any, system: str) -> Taxonomy:
    return cms_taxonomy(json.dumps(document).encode(), "terms.json", system, "site")


def test_categories_of_wordpress() -> None:
    found = read(WORDPRESS, "wordpress")
    at = "https://example.org/category"
    assert found.parents == {
        f"{at}/floods/": (),
        f"{at}/floods/flash/": (f"{at}/floods/",),
        f"{at}/lost/": (),
    }
    assert found.labels[f"{at}/floods/"] == (TaxonomyLabel("Floods & rain"),)
    assert found.is_below(f"{at}/floods/flash/", f"{at}/floods/")


def test_terms_of_drupal_with_several_parents() -> None:
    found = read(DRUPAL, "drupal")
    assert found.parents[f"urn:uuid:{FLASH}"] == (f"urn:uuid:{FLOOD}", f"urn:uuid:{RAIN}")
    assert found.labels[f"urn:uuid:{FLASH}"] == (TaxonomyLabel("Styrtflom", "nb"),)


def test_a_label_finds_its_class_where_it_is_the_only_one() -> None:
    twice = [*WORDPRESS, {**WORDPRESS[2], "id": 9, "link": "https://example.org/other/"}]
    class_of = class_by_label(read(twice, "wordpress"))
    assert class_of(" flash FLOOD ") == Iri("https://example.org/category/floods/flash/")
    assert class_of("Lost") is None, "two are called so"
    assert class_of("rain") is None


def test_terms_below_each_other_in_a_circle_are_refused() -> None:
    around = [{**WORDPRESS[0], "parent": 7}, WORDPRESS[1]]
    with pytest.raises(DocumentError, match="D520"):
        read(around, "wordpress")


@pytest.mark.parametrize(
    ("content", "system", "message"),
    [
        (b"[", "wordpress", "invalid JSON"),
        (b"[" * 9999, "wordpress", "nests more than"),
        (b"{}", "wordpress", "expected a list of categories, not dict"),
        (b"[]", "wordpress", "has no terms"),
        (b"[{}]", "wordpress", 'no int "id"'),
        (b'[{"id": true}]', "wordpress", 'no int "id" .it has: id'),
        (b'[{"id": 1, "link": "floods"}]', "wordpress", "not an absolute IRI"),
        (b"[1]", "drupal", 'expected a list "data", not NoneType'),
        (b'{"data": [3]}', "drupal", "an entry is int"),
        (b'{"data": [{"id": "u"}]}', "drupal", 'no dict "attributes"'),
        (b'{"data": [{"id": "u", "attributes": {"name": "x", "langcode": "?"}}]}', "drupal", "language tag"),
        (json.dumps({"data": [ODD]}).encode(), "drupal", "an entry is int"),
    ],
)  # fmt: skip
def test_what_no_system_writes_is_refused(content: bytes, system: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message) as caught:
        cms_taxonomy(content, "terms.json", system, "site")
    assert [problem.code for problem in caught.value.problems] == ["D529"]

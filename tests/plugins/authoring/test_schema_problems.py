"""Schema errors are reported at their place, whatever the namespaces there."""

import pytest

from knowledge_manager.mission_table import load_mission_table
from plugins.registry import authoring_of, language_of_document


@pytest.mark.parametrize(
    "namespace", ["urn:dens:subscription:1", "urn:dens:approximate:1", "urn:dens:boxes:1"]
)
def test_an_element_of_a_foreign_namespace_is_refused_where_it_stands(namespace: str) -> None:
    source = (
        f'<subscription xmlns:q="x" xmlns="{namespace}" event="patient" valid="PT6H">\n'
        '  <q:foo/><crisp-predicate attribute="heart_rate" operator="ge">90</crisp-predicate>\n'
        "</subscription>"
    ).encode()
    authoring = authoring_of(language_of_document(source, "f.xml"))
    problems = authoring.check(source, "f.xml", load_mission_table(["medical"]))
    assert ("D110", 2) in {(problem.code, problem.line) for problem in problems}

"""The registry by document: which language owns a namespace, and the error for unknown ones."""

import logging
import subprocess
import sys
from dataclasses import replace

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import load_mission_table
from plugins.authoring import Authoring
from plugins.guard.guarded import guarded
from plugins.language import LanguageDefect
from plugins.registry import (
    BUILT_IN,
    LanguageEntry,
    RegistryError,
    authoring_of,
    entry_of,
    language_named,
    language_of_document,
    namespaces,
    offered,
    term_fault,
    term_shapes,
)
from tests.plugins.toy_language import NAMESPACE, TOY, alarm, register

USUAL = "urn:dens:subscription:1"
APPROXIMATE = "urn:dens:approximate:1"
PATIENT = load_mission_table(["medical"]).event("patient")
OURS = {
    USUAL: "fuzzy",
    APPROXIMATE: "atopss",
    "urn:dens:graph:1": "graph",
    "urn:dens:composite:1": "composite",
    "urn:dens:boxes:1": "boxes",
}


def test_a_document_is_its_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)
    assert namespaces() == OURS | {NAMESPACE: "alarm"}
    assert language_of_document(alarm().encode(), "a.xml") is TOY
    prefixed = f'<?xml version="1.0"?><!-- ours --><x:alarm xmlns:x="{NAMESPACE}"/>'
    assert language_of_document(prefixed.encode(), "a.xml") is TOY
    nested = f'<subscription xmlns="{USUAL}"><alarm xmlns="{NAMESPACE}"/></subscription>'
    assert language_of_document(nested.encode(), "a.xml").name == "fuzzy"


@pytest.mark.parametrize("start", ["<subscription/>", '<alarm xmlns="urn:unknown"/>', '<a xmlns=""/>'])
def test_unknown_namespace_is_refused_with_all_known_ones(
    monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    register(monkeypatch)
    with pytest.raises(DocumentError) as refused:
        language_of_document(b"\n " + start.encode(), "a.xml")
    [problem] = refused.value.problems
    assert (problem.line, problem.column, problem.code) == (2, 2, "D010")
    assert all(namespace in problem.message for namespace in namespaces())


def test_the_usual_language_is_named_first() -> None:
    named = ", ".join(rf"{one} \({name}\)" for one, name in OURS.items() if one != USUAL)
    others = f"other languages: {named}$"
    with pytest.raises(DocumentError, match=rf'not a <subscription xmlns="{USUAL}">; {others}'):
        language_of_document(b"<a/>", "a.xml")


def test_a_namespace_has_one_language(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, replace(TOY, language_id=201, name="twin"))
    with pytest.raises(RegistryError, match=f"namespace {NAMESPACE} of twin is taken by alarm"):
        language_of_document(alarm().encode(), "a.xml")


def test_language_without_authoring_is_reported_once_and_others_continue(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Authoring:
        raise KeyError("its own fault")

    other = replace(TOY, language_id=202, name="broken", authoring=broken, namespaces=("urn:test:broken:1",))
    register(monkeypatch, guarded(other))
    with caplog.at_level(logging.WARNING, "dens"):
        for _ in range(3):
            assert namespaces() == OURS | {NAMESPACE: "alarm", "urn:test:broken:1": "broken"}
            assert term_fault(PATIENT.attribute("heart_rate"), "high") == ""
    [told] = caplog.records
    assert "the broken language: authoring() raised KeyError" in told.getMessage()
    with pytest.raises(LanguageDefect, match="its own fault"):
        authoring_of(language_named("broken"))


def test_unsupported_feature_is_reported() -> None:
    direct, usual = language_named("direct"), language_named("fuzzy")
    assert offered("it", direct, "thing") == "it"
    with pytest.raises(RegistryError, match=r"^the direct language does not support thing$"):
        offered(None, direct, "thing")
    with pytest.raises(
        RegistryError,
        match=r"^the direct language has no authoring: its subscriptions cannot be written as documents$",
    ):
        authoring_of(direct)
    assert authoring_of(usual).terms is not None


def test_terms_come_from_every_language_that_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)
    assert term_fault(PATIENT.attribute("heart_rate"), "high") == ""
    assert term_shapes().values(PATIENT.attribute("heart_rate"))[0] == PATIENT.attribute("heart_rate").lo


def test_who_only_puts_bytes_into_words_waits_for_no_compiler() -> None:
    """A node shows what comes; NumPy, Numba and the compiler would cost it a second of its start."""
    program = (
        "import sys\n"
        "from plugins.registry import authoring_of, language_named, DEFAULT\n"
        "authoring = authoring_of(language_named(DEFAULT))\n"
        "print(authoring.describe(bytes.fromhex('0001670000909292010107'), None).kind)\n"
        "heavy = ('numpy', 'numba', 'plugins.fuzzy.authoring.compiler')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["notification", "[]"]


@pytest.mark.parametrize("entry", BUILT_IN, ids=lambda entry: entry.name)
def test_entry_of_a_built_in_language_states_what_the_language_declares(entry: LanguageEntry) -> None:
    assert replace(entry_of(entry.load()), load=entry.load) == entry


def test_finding_a_language_by_namespace_loads_no_other() -> None:
    program = (
        "import sys\n"
        "from plugins.registry import language_of_document\n"
        f"assert language_of_document(b'<subscription xmlns=\"{USUAL}\"/>', 'a.xml').name == 'fuzzy'\n"
        "loaded = [name.split('.') for name in sys.modules if name.startswith('plugins.')]\n"
        "print(sorted(parts[1] for parts in loaded if len(parts) == 3 and parts[2] == 'language'))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "['fuzzy']"

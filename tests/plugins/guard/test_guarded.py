"""A language with a defect in any method: it is reported in words, and everything else keeps working."""

import logging
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.dictionary.extract import Extract
from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.fuzzy.language import FUZZY
from plugins.guard.guarded import guarded
from plugins.language import LanguageDefect, Match, Part, Release, SubscriptionLanguage
from plugins.registry import BUILT_IN
from plugins.relations import PlainCovers
from plugins.routing import Changes, RelatedRouting, RoutingOptions
from tests.plugins.toy_language import TOY, AlarmRelations, alarm
from watchdog.codes import BAD_VECTOR, INSTALLED
from watchdog.reading import Reading
from watchdog.vector import VectorError
from watchdog.watchdog import Watchdog

TABLE = load_mission_table(["medical"])
BODY = bytes((0, 1, 90))
TOLD = bytes((0, 1, 95))
NOTHING = Extract(1, 0, 1, ())


def raises(*_: Any, **__: Any) -> Any:
    raise KeyError("no such thing")


def leaves(*_: Any, **__: Any) -> Any:
    raise SystemExit(7)


def refuses(*_: Any, **__: Any) -> Any:
    raise VectorError(1, "these are none")


class Odd:
    """Does one thing in every method; what it lacks it takes from a sound object."""

    def __init__(self, sound: Any, verb: str, does: Callable[..., Any]) -> None:
        self._sound = sound
        self._verb = verb
        self._does = does

    def __getattr__(self, name: str) -> Any:
        return self._does if name == self._verb else getattr(self._sound, name)


def odd(factory: str, verb: str, does: Callable[..., Any]) -> SubscriptionLanguage:
    """Return the toy language with one odd verb, behind the guard."""
    make = getattr(TOY, factory)
    return guarded(replace(TOY, **{factory: lambda *given: Odd(make(*given), verb, does)}))


def answers(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


@pytest.mark.parametrize("does", [raises, leaves])
@pytest.mark.parametrize("factory", ["lookup", "source_filter", "matcher", "relations"])
def test_failing_factory_is_reported(factory: str, does: Callable[..., Any]) -> None:
    language = guarded(replace(TOY, **{factory: does}))
    told = rf"the alarm language: {factory}\(\) raised \w+: .*test_guarded.py:\d+"
    with pytest.raises(LanguageDefect, match=told):
        getattr(language, factory)(TABLE)


@pytest.mark.parametrize(
    "does",
    [
        raises,
        leaves,
        answers(None),
        answers([Match((9, 9), 255)]),
        answers([Match((1, 2), 300)]),
        answers([Match((1, 2), 255, b"x" * 256)]),
        answers([Match((1, 2), 255, 10**10)]),  # type: ignore[arg-type]
        answers(["a match"]),
    ],
)
def test_a_matcher_that_answers_oddly_is_a_defect(does: Callable[..., Any]) -> None:
    matcher = odd("matcher", "match", does).matcher(TABLE)
    matcher.add((1, 2), BODY)
    with pytest.raises(LanguageDefect, match=r"the alarm language: matcher.match\(\)"):
        matcher.match(TOLD, 0, 0)


@pytest.mark.parametrize("does", [raises, leaves, answers((9, 9)), answers((1, 2)), answers("a key")])
def test_an_index_of_covers_that_answers_oddly_is_a_defect(does: Callable[..., Any]) -> None:
    def make(table: MissionTable) -> Any:
        return Odd(PlainCovers(AlarmRelations().covers), "cover_of", does)

    language = guarded(replace(TOY, source_covers=make))
    assert language.source_covers is not None
    index = language.source_covers(TABLE)
    index.insert((1, 2), BODY)
    with pytest.raises(LanguageDefect, match=r"the alarm language: source_covers.cover_of\(\)"):
        index.cover_of((1, 2))
    with pytest.raises(VectorError):
        index.insert((1, 3), b"")
    index.remove((1, 2))


def test_a_matcher_that_is_sound_answers_as_it_would() -> None:
    plain, held = TOY.matcher(TABLE), guarded(TOY).matcher(TABLE)
    for matcher in (plain, held):
        matcher.add((1, 2), BODY)
    assert held.match(TOLD, 0, 0) == plain.match(TOLD, 0, 0) != []
    assert list(held.match_batch([(TOLD, 0)], 0)) == list(plain.match_batch([(TOLD, 0)], 0))
    with pytest.raises(VectorError):
        held.match(b"", 0, 0)


@pytest.mark.parametrize(
    "does",
    [raises, leaves, refuses, answers(None), answers([b"bytes"]), answers([Release(b"x", 999)])],
)
def test_source_continues_after_a_filter_failure_reported_once(
    does: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    source = odd("source_filter", "feed", does).source_filter(TABLE)
    source.add((1, 2), BODY)
    with caplog.at_level(logging.WARNING, "dens"):
        assert [source.feed(Reading()) for _ in range(3)] == [[], [], []]
    assert len(caplog.records) == 1
    assert "the alarm language: source_filter.feed()" in caplog.text


def test_a_subscription_with_which_a_filter_fails_is_refused_at_the_source() -> None:
    guard = Watchdog({200: odd("source_filter", "add", raises).source_filter(TABLE)})
    assert guard.install(1, 2, 0, 200, BODY, 60_000, 0) == BAD_VECTOR
    fine = Watchdog({200: guarded(TOY).source_filter(TABLE)})
    assert fine.install(1, 2, 0, 200, BODY, 60_000, 0) == INSTALLED


@pytest.mark.parametrize(
    "parts",
    [
        raises,
        leaves,
        answers(None),
        answers(raises),
        answers(answers(None)),
        answers(answers((Part(300, b""),))),
        answers(answers((Part(1, 10**10),))),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_taken_apart_has_no_parts(parts: Callable[..., Any]) -> None:
    assert guarded(replace(TOY, parts=parts)).parts(TABLE)(BODY) == ()


def test_sound_parts_pass() -> None:
    language = guarded(replace(TOY, parts=lambda table: lambda body: (Part(1, body),)))
    assert language.parts(TABLE)(BODY) == (Part(1, BODY),)


@pytest.mark.parametrize("does", [raises, answers(7), answers("a rule")])
def test_a_damper_that_fails_holds_nothing_back(does: Callable[..., Any]) -> None:
    language = guarded(replace(TOY, damper=lambda *_: Odd(object(), "judge", does)))
    assert language.damper is not None
    assert language.damper(TABLE, 0, 0).judge(TOLD, 0) == 0


def test_failing_question_is_reported() -> None:
    with pytest.raises(LanguageDefect, match=r"lookup.question\(\) raised KeyError"):
        odd("lookup", "question", raises).lookup(TABLE).question(BODY)
    asked = Odd(TOY.lookup(TABLE).question(BODY), "serves", raises)
    question = odd("lookup", "question", answers(asked)).lookup(TABLE).question(BODY)
    with pytest.raises(LanguageDefect, match=r"lookup.question\(\).serves\(\) raised KeyError"):
        question.serves(NOTHING)


NOTHING_SAID, WORDS = answers(None), answers("words")


@pytest.mark.parametrize("does", [raises, leaves, NOTHING_SAID, WORDS])
@pytest.mark.parametrize(
    ("verb", "given"),
    [
        ("compile", (alarm().encode(), "a.xml", TABLE)),
        ("check", (alarm().encode(), "a.xml", TABLE)),
        ("meaning", (BODY,)),
        ("describe", (TOLD, TABLE)),
        ("describe_match", (Match((1, 2), 9, b"\x05"), TABLE)),
        ("happened_s", (TOLD,)),
    ],
)
def test_failing_authoring_is_reported(verb: str, given: tuple[Any, ...], does: Callable[..., Any]) -> None:
    language = odd("authoring", verb, does)
    assert language.authoring is not None
    authoring = language.authoring()
    is_an_answer = (verb, does) in (("happened_s", NOTHING_SAID), ("describe_match", WORDS))
    if is_an_answer:
        assert getattr(authoring, verb)(*given) == does()
        return
    with pytest.raises(LanguageDefect, match=rf"the alarm language: authoring.{verb}\(\)"):
        getattr(authoring, verb)(*given)


def test_what_an_author_did_wrong_passes() -> None:
    language = guarded(TOY)
    assert language.authoring is not None
    authoring = language.authoring()
    with pytest.raises(DocumentError):
        authoring.compile(alarm(event="nothing").encode(), "a.xml", TABLE)
    with pytest.raises(VectorError):
        authoring.describe(b"", TABLE)


class Table:
    """A table with scripted answers."""

    covered = 0
    mergers = 0

    def __init__(self, changes: Any) -> None:
        self._changes = changes

    def insert(self, key: Any, body: Any) -> Any:
        return self._changes

    def remove(self, key: Any) -> Any:
        return self._changes

    def bodies(self) -> list[bytes]:
        return []


@pytest.mark.parametrize(
    "changes",
    [None, "changes", Changes((b"x" * 60_001,)), Changes((), (b"never given",)), Changes(("text",))],  # type: ignore[arg-type]
)
def test_a_table_whose_changes_do_not_add_up_is_a_defect(changes: Any) -> None:
    sound = RelatedRouting(AlarmRelations(), lambda: TOY.matcher(TABLE), RoutingOptions())
    language = guarded(replace(TOY, routing=lambda *_: Odd(sound, "table", lambda: Table(changes))))
    assert language.routing is not None
    table = language.routing(TABLE, RoutingOptions()).table()
    with pytest.raises(LanguageDefect, match=r"the alarm language: routing.table\(\)"):
        table.insert((1, 2), BODY)


def test_a_sound_table_behind_the_guard_is_what_it_was() -> None:
    sound = RelatedRouting(AlarmRelations(), lambda: TOY.matcher(TABLE), RoutingOptions())
    language = guarded(replace(TOY, routing=lambda *_: sound))
    assert language.routing is not None
    found = language.routing(TABLE, RoutingOptions())
    assert found.includes(BODY, BODY)
    assert found.advertises(BODY, BODY)
    assert found.admits(BODY, TOLD)
    assert found.advertisement(TABLE.event("patient"), ()) is None
    table = found.table()
    assert table.insert((1, 2), BODY).announced == (BODY,)
    assert (table.bodies(), table.covered, table.mergers) == ([BODY], 0, 0)
    assert table.remove((1, 2)).withdrawn == (BODY,)


FACTORIES = (
    "announced_filter",
    "composer",
    "ground_truth",
    "lookup",
    "matcher",
    "relations",
    "source_covers",
)


@pytest.mark.parametrize("language", [entry.load() for entry in BUILT_IN], ids=lambda language: language.name)
def test_objects_of_built_in_languages_satisfy_their_interfaces(language: SubscriptionLanguage) -> None:
    proxies = [make(TABLE) for name in FACTORIES if (make := getattr(guarded(language), name)) is not None]
    if (author := guarded(language).authoring) is not None:
        proxies.append(author())
    if (routing := guarded(language).routing) is not None:
        proxies += [routing(TABLE, RoutingOptions()), routing(TABLE, RoutingOptions()).table()]
    for proxy in proxies:
        members = [name for name in dir(proxy._interface) if not name.startswith("_")]
        assert members
        for name in members:
            getattr(proxy, name)


def test_a_proxy_can_be_shipped_to_another_process() -> None:
    author = guarded(FUZZY).authoring
    assert author is not None
    vector = bytes.fromhex("00006700009592ff547bff3f00c249010b")
    shipped = pickle.loads(pickle.dumps(author()))
    assert shipped.decompile(vector, TABLE) == author().decompile(vector, TABLE)

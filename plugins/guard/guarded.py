"""A proxy around a language of another package. It checks every answer against the interface's annotations.

The registry wraps each language that is not built in. Verbs that are given bytes or documents may refuse them
(`VectorError`, `DocumentError`). Any other exception, and an answer of another type, is a *defect*:

- A caller that waits for the answer (compile, match, look-up, ground truth) gets a `LanguageDefect`. Commands
  print it, DENS nodes quarantine the message.
- At a source, nothing is released and the defect is logged once, because the next reading must still be read.
- A subscription that cannot be decomposed has no parts, a notification that cannot be read has no results.
"""

import logging
import reprlib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

from dens.config.problems import DocumentError
from dens.config.refusal import Refusal
from dens.interfaces import EntryChanges
from knowledge_manager.dictionary.extract import Extract
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.authoring import Authoring
from plugins.authoring.generator import CombinationRefused, SubscriptionGenerator
from plugins.authoring.streams import StreamLearner, StreamReading
from plugins.authoring.terms import TermShapes
from plugins.authoring.xml.spans import Span
from plugins.ground_truth import GroundTruth, ReadingColumns
from plugins.language import (
    DETAIL_BYTES,
    Damper,
    DocumentFilter,
    Grader,
    LanguageDefect,
    Matcher,
    NamingFilter,
    NotServed,
    SourceFilter,
    SubscriptionKey,
    SubscriptionLanguage,
)
from plugins.publications import PublicationReader
from plugins.relations import Forest, Relations
from plugins.routing import AdvertisingRelations, RoutingOptions
from plugins.work import WorkExceeded
from watchdog.filter import PoolFull
from watchdog.vector import VectorError

MAX_BYTES: Final = 60_000
"""A longer body or notification does not fit a message."""

_FORWARD_NAMES: Final = {
    known.__name__: known
    for known in (
        *(AdvertisingRelations, Authoring, Extract, Forest, GroundTruth, PublicationReader, Relations),
        *(RoutingOptions, Span, StreamLearner, StreamReading, SubscriptionGenerator, SubscriptionLanguage),
        *(TermShapes, Thesaurus),
    )
}
"""Names that the annotations import for type checkers only."""

_Refusals = tuple[type[Exception], ...]
_OF_AUTHORS: Final[_Refusals] = (DocumentError, VectorError, UnknownName, Refusal, CombinationRefused)
"""Allowed for every verb of `authoring` and `publications`."""
_OF_BYTES: Final[_Refusals] = (VectorError, NotServed, WorkExceeded, PoolFull)
"""Allowed for other verbs that are given bytes."""

_ISOLATED: Final[Mapping[tuple[type, str], _Refusals]] = {
    (SubscriptionLanguage, "parts"): _OF_BYTES,
    (SubscriptionLanguage, "results"): _OF_BYTES,
    (SourceFilter, "add"): _OF_BYTES,
    (SourceFilter, "remove"): (),
    (SourceFilter, "feed"): (),
    (SourceFilter, "offer"): (),
    (Damper, "judge"): (),
}
"""Verbs whose defects are logged instead of raised, with the refusals that still pass."""

_EXTENSIONS: Final[Mapping[type, tuple[type, ...]]] = {
    SourceFilter: (DocumentFilter, NamingFilter),
    Matcher: (Grader,),
}
"""Optional verbs of an interface."""

_LIMITS: Final[Mapping[str, range]] = {
    "degree_u8": range(256),
    "detail": range(DETAIL_BYTES + 1),
    "language_id": range(256),
    "lifetime": range(256),
    "lifetime_q": range(256),
    "rank": range(2),
    "authoring.namespaces": range(1, 256),
    "damper.judge()": range(3),
}
"""Allowed values of an integer, or lengths of a sequence, by field."""


class Guard:
    """Attributes defects to one language."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._warned: set[str] = set()

    def defect(self, verb: str, cause: str, error: BaseException | None = None) -> LanguageDefect:
        """Return the exception that reports a defect of `verb`."""
        frames = [] if error is None else traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        return LanguageDefect(f"the {self._name} language: {verb} {cause}{place}; fix or remove its package")

    def warn(self, verb: str, defect: LanguageDefect) -> None:
        """Log a defect that no caller handles, once per verb."""
        if verb not in self._warned:
            self._warned.add(verb)
            logging.getLogger("dens").warning("%s", defect)


class _Mismatch(Exception):
    """An answer does not have its annotated type."""

    def __init__(self, value: object, expected: object, name: str = "") -> None:
        text = expected.__name__ if isinstance(expected, type) else str(expected)
        place = f" as {name}" if name.isidentifier() else ""
        super().__init__(f"returned {reprlib.repr(value)}{place}; expected {text}")


class _Call(NamedTuple):
    label: str
    verb: str
    hints: Mapping[Any, Any]
    """Annotations of the parameters, and `return`."""
    arguments: tuple[Any, ...]


def guarded(language: SubscriptionLanguage) -> SubscriptionLanguage:
    """Return a language whose factories make proxies."""
    guard, hints = Guard(language.name), _hints(SubscriptionLanguage)
    changes: dict[str, Any] = {}
    for field in fields(language):
        refusals = _OF_AUTHORS if field.name in ("authoring", "publications") else _OF_BYTES
        proxy = _Proxy(guard, language, SubscriptionLanguage, "", refusals)
        value, hint = getattr(language, field.name), _required(hints[field.name])
        if value is field.default:
            continue
        if get_origin(hint) is Callable:
            changes[field.name] = proxy.wrap(field.name, value, hint)
        elif get_origin(hint) is Mapping:
            made = get_args(hint)[1]
            changes[field.name] = {key: proxy.wrap(field.name, make, made) for key, make in value.items()}
    return replace(language, **changes)


class _Proxy:
    """Stands for one object of a language. Members that its interface does not declare pass unchecked."""

    def __init__(self, guard: Guard, inner: Any, interface: type, path: str, refusals: _Refusals) -> None:
        self._guard = guard
        self._inner = inner
        self._interface = interface
        self._path = path
        self._refusals = refusals
        self._keys: set[SubscriptionKey] = set()
        self._announced: set[bytes] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also while a proxy is unpickled
            raise AttributeError(name)
        member = _members(self._interface).get(name)
        if isinstance(member, property):
            call = _Call(self._path + name, name, _hints(member.fget), ())
            return self._run(call, lambda: getattr(self._inner, name, None))
        function = getattr(self._inner, name)
        return function if member is None else partial(self._call, name, function, _hints(member))

    def wrap(self, verb: str, function: Any, hint: Any) -> Callable[..., Any]:
        """Return `function`, which a Callable annotates, with its answers checked."""
        if not callable(function):
            raise _Mismatch(function, hint)
        given, answer = get_args(hint)
        return partial(self._call, verb, function, {**dict(enumerate(given)), "return": answer})

    def _call(
        self,
        verb: str,
        function: Callable[..., Any],
        hints: Mapping[Any, Any],
        *arguments: Any,
        **options: Any,
    ) -> Any:
        if verb == "remove":
            self._keys.discard(arguments[0])
        call = _Call(f"{self._path}{verb}()", verb, hints, arguments)
        answer = self._run(call, partial(function, *arguments, **options))
        if verb in ("add", "insert"):
            self._keys.add(arguments[0])
        return answer

    def _run(self, call: _Call, function: Callable[[], Any]) -> Any:
        takes_bytes = any(_mentions_bytes(hint) for name, hint in call.hints.items() if name != "return")
        allowed = self._refusals if takes_bytes or self._refusals is _OF_AUTHORS else ()
        is_isolated = (self._interface, call.verb) in _ISOLATED
        refusals = _ISOLATED.get((self._interface, call.verb), allowed)
        try:
            return self._checked(function(), call.hints["return"], call, call.label)
        except refusals:
            raise
        except LanguageDefect as error:
            defect = error
        except _Mismatch as error:
            defect = self._guard.defect(call.label, str(error))
        except (Exception, SystemExit) as error:
            defect = self._guard.defect(call.label, f"raised {type(error).__name__}: {error}", error)
        if not is_isolated:
            raise defect
        self._guard.warn(call.label, defect)
        if call.verb == "add":
            raise VectorError(0, str(defect)) from defect
        return _empty(call.hints["return"])

    def _checked(self, value: Any, hint: Any, call: _Call, name: str = "") -> Any:
        """Return an answer, its objects behind proxies, or raise `_Mismatch`."""
        kind, options = get_origin(hint) or hint, get_args(hint)
        if kind in (Any, NoneType) or (value is None and NoneType in options):
            return value
        if kind in (Union, UnionType):
            kinds = tuple(get_origin(option) or option for option in options)
            fitting = [
                option for option, kind in zip(options, kinds, strict=True) if _is_instance(value, kind)
            ]
            return self._checked(value, (*fitting, options[0])[0], call, name)
        if kind is bool:
            return bool(value)
        if kind is Callable:
            return self.wrap(call.verb, value, hint)
        if kind is Iterator:
            return self._iterated(iter(value), options[0], call)
        if not isinstance(kind, type):  # a Literal or a type variable
            return value
        if not _is_instance(value, kind) or not _is_within(value, _LIMITS.get(name)):
            raise _Mismatch(value, hint, name)
        if hint == SubscriptionKey and (value not in self._keys or value in call.arguments):
            raise _Mismatch(value, "another subscription that it holds")
        if kind in (list, tuple, Sequence):
            is_fixed = kind is tuple and Ellipsis not in options
            if is_fixed and len(value) != len(options):
                raise _Mismatch(value, hint)
            hints = options if is_fixed else options[:1] * len(value)
            items = [self._checked(item, of, call) for item, of in zip(value, hints, strict=True)]
            return tuple(items) if kind is tuple else items
        if kind is SubscriptionLanguage:
            if (value.language_id, value.name) != (self._inner.language_id, self._inner.name):
                raise _Mismatch(value.name, f"language {self._inner.name}")
            return guarded(value)
        if _is_protocol(kind):
            return self._checked_object(value, kind, call)
        for field, field_hint in _value_fields(kind).items():
            self._checked(getattr(value, field), field_hint, call, field)
        return value

    def _checked_object(self, value: Any, interface: type, call: _Call) -> Any:
        members = _members(interface, with_extensions=False)
        hints = {
            name: _hints(member.fget)["return"]
            for name, member in members.items()
            if isinstance(member, property)
        }
        if len(hints) < len(members):
            path = f"{call.verb}." if self._path == "" else f"{call.label}."
            proxy = _Proxy(self._guard, value, interface, path, self._refusals)
            for name in (name for name, hint in hints.items() if _required(hint) is hint):
                getattr(proxy, name)
            return proxy
        for name, hint in hints.items():  # it has no methods: a plain value
            self._checked(getattr(value, name), hint, call, name)
        if interface is EntryChanges:
            if not self._announced.issuperset(value.withdrawn):
                raise _Mismatch(value, "withdrawals of announced bodies")
            self._announced = self._announced.difference(value.withdrawn).union(value.announced)
        return value

    def _iterated(self, items: Iterator[Any], hint: Any, call: _Call) -> Iterator[Any]:
        end = object()
        step = call._replace(hints={**call.hints, "return": Any})
        check = call._replace(hints={**call.hints, "return": hint})
        while (item := self._run(step, partial(next, items, end))) is not end:
            yield self._run(check, partial(lambda item: item, item))


@cache
def _hints(declared: Any) -> dict[str, Any]:
    return get_type_hints(declared, localns=_FORWARD_NAMES)


@cache
def _members(interface: type, with_extensions: bool = True) -> dict[str, Any]:
    """Return the methods and properties that an interface declares."""
    found = {
        name: member
        for base in reversed(interface.__mro__)
        if _is_protocol(base)
        for name, member in vars(base).items()
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    }
    for extension in _EXTENSIONS.get(interface, ()) if with_extensions else ():
        found = _members(extension) | found
    return found


@cache
def _value_fields(kind: type) -> dict[str, Any]:
    """Return the annotated fields of a value; a class of boards annotates its constructor instead."""
    if kind.__module__ == "builtins":
        return {}
    hints = _hints(kind) or _hints(vars(kind).get("__init__", kind))
    return {name: hint for name, hint in hints.items() if name != "return"}


def _is_protocol(kind: Any) -> bool:
    return getattr(kind, "_is_protocol", False)


def _is_instance(value: Any, kind: Any) -> bool:
    if kind in (list, tuple, Sequence):
        return isinstance(value, list | tuple)
    if _is_protocol(kind):
        members = _members(kind, with_extensions=False)
        return all(hasattr(value, name) for name, member in members.items() if callable(member))
    return isinstance(value, kind) and (kind is not bytes or len(value) <= MAX_BYTES)


def _is_within(value: Any, limits: range | None) -> bool:
    return limits is None or (value if isinstance(value, int) else len(value)) in limits


def _required(hint: Any) -> Any:
    """Return what an optional annotation is apart from None."""
    options = get_args(hint)
    if NoneType not in options:
        return hint
    [only] = (option for option in options if option is not NoneType)
    return only


def _mentions_bytes(hint: Any) -> bool:
    return hint in (bytes, ReadingColumns) or any(_mentions_bytes(option) for option in get_args(hint))


def _empty(hint: Any) -> Any:
    """Return the answer of an isolated verb that failed."""
    kind = get_origin(hint) or hint
    if kind is Callable:
        return lambda *_: _empty(get_args(hint)[1])
    return {int: 0, NoneType: None, tuple: ()}.get(kind, [])

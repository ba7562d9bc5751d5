"""The matchers of a mediator, by language; and whose fault it is when one of them fails.

Languages may be third-party code. Their answers are read and checked completely before use; an exception is
attributed to a message:

- a notification that comes and fails alone, or with every subscription, is the one at fault; so it is where
  it fails with a subscription that gets on with others. Otherwise that subscription is at fault, which would
  fail the next notification too;
- a subscription that comes and fails is at fault where other subscriptions have got on with the same
  notifications, or where it fails with all, of several publishers. Otherwise those are with which it fails.

A call that reaches its limit of work is not a fault: pairs that reach it alone stay undecided. All work is
charged to the origin of the message that causes it.

So one bad message does not affect good ones. A subscriber whose subscription is at fault may send a new
revision.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from typing import Final

from dens.interfaces import BoundLanguage, FoundMatch, Matcher, MatcherFactory, SubscriptionKey
from dens.overlay.session.quarantine import REFUSALS
from dens.overlay.session.work_budget import BudgetSpent, WorkBudget, limit_work, units_of
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.item import Item

Match = tuple[SubscriptionKey, int, bytes, int | None]
"""The key of a subscription that a notification satisfies, the degree, 0..255, the language's detail, and the
one revision that it is for, if not any."""
DETAIL_BYTES: Final = 255
"""Maximum length of the detail of a match."""
Paired = tuple[int, int, bytes]
"""The position of a notification that satisfies a subscription, the degree and the detail."""
Failure = tuple[Item, Exception]
"""A message, and what a language raised because of it."""
_TRIALS_MAX: Final = 64
"""A notification that fails with this many subscriptions, and succeeds with none, is at fault: bounds its
cost.
"""


def _read(found: Iterable[FoundMatch]) -> list[Match]:
    """Return an answer of a matcher as plain numbers, or raise: nothing else may come out of a matcher."""
    matches: list[Match] = []
    for one in found:
        (origin, id), degree_u8 = one.key, one.degree_u8
        if not 0 <= degree_u8 <= 255:
            raise ValueError(f"a degree is 0..255, here is {degree_u8}")
        detail = one.detail
        if detail.__class__ is not bytes:
            raise TypeError(f"the detail of a match is bytes, here is a {type(detail).__name__}")
        if detail and len(detail) > DETAIL_BYTES:
            raise ValueError(f"a match has at most {DETAIL_BYTES} bytes of detail, here are {len(detail)}")
        matches.append(((int(origin), int(id)), int(degree_u8), detail, one.revision))
    return matches


class LanguageMatchers:
    """For each language one matcher with all subscriptions, and one to match a single subscription with.

    A subscription that is learnt late is matched alone against the notifications already carried; through
    the large matcher that would cost every other subscription too. `on_matched` is called after a
    notification was given to the matchers.
    """

    __slots__ = ("_all", "_budget", "_factories", "_listeners", "_makers", "_on_matched", "_single")

    def __init__(
        self,
        languages: Mapping[int, BoundLanguage],
        budget: WorkBudget,
        on_matched: Callable[[Item], None] | None = None,
    ) -> None:
        self._budget = budget
        self._on_matched = on_matched
        self._factories: dict[int, dict[int, MatcherFactory]] = {
            number: dict(language.matchers) for number, language in sorted(languages.items())
        }
        self._all: dict[int, dict[int, Matcher]] = {
            language: {told: self._made(make) for told, make in forms.items()}
            for language, forms in self._factories.items()
        }
        """By the language of a subscription, then by that of a notification."""
        self._single: dict[tuple[int, int], Matcher] = {}
        self._listeners: dict[int, tuple[Matcher, ...]] = {
            told: tuple(forms[told] for forms in self._all.values() if told in forms) for told in self._all
        }
        """For each language all that judges its notifications."""
        self._makers: dict[int, tuple[MatcherFactory, ...]] = {
            told: tuple(forms[told] for forms in self._factories.values() if told in forms)
            for told in self._all
        }

    def __contains__(self, language: int) -> bool:
        return language in self._all

    def _made(self, make: MatcherFactory) -> Matcher:
        matcher = make()
        limit_work(matcher, self._budget.call_limit)
        return matcher

    def _units(self, matchers: Iterable[Matcher]) -> int:
        units = 0
        for matcher in matchers:
            units += units_of(matcher)
        return units

    def knows(self, language: int) -> bool:
        """Return whether any matcher judges notifications of this language."""
        return language in self._listeners

    def hears(self, subscribed: int, told: int) -> bool:
        """Return whether subscriptions of one language are about notifications of another."""
        return told in self._all.get(subscribed, ())

    def add(self, subscription: Subscription, now_ms: int) -> bool:
        """Hold a subscription in place of its older revision; return whether there is a matcher to hold it. A
        bad body raises and changes nothing.
        """
        matchers = self._all.get(subscription.item.language)
        if matchers is None:
            return False
        held: list[Matcher] = []
        before = self._units(matchers.values())
        try:
            for matcher in matchers.values():
                matcher.add(subscription.key, subscription.body)
                held.append(matcher)
        except Exception:
            for matcher in held:  # Only a language whose matchers disagree on a body comes here.
                matcher.remove(subscription.key)
            raise
        finally:
            units = self._units(matchers.values()) - before
            self._budget.charge(subscription.item.origin, 1 + units, now_ms)
        return True

    def remove(self, subscription: Subscription) -> None:
        """Hold it no longer."""
        for matcher in self._all.get(subscription.item.language, {}).values():
            matcher.remove(subscription.key)

    def match(
        self,
        item: Item,
        witnesses: Callable[[Item], tuple[Sequence[Subscription], Sequence[Item]]],
        now_ms: int,
    ) -> tuple[Sequence[Match], Sequence[Failure]] | None:
        """Return what a notification satisfies, and whose fault it is if the matcher failed; None where its
        language is not known. A bad vector raises and changes nothing.

        `witnesses` gives the subscriptions that are held and some other notifications of its language; it is
        called only if the matcher failed.
        """
        listeners = self._listeners.get(item.language)
        if listeners is None:
            return None
        before = self._units(listeners)
        found: list[Match] = []
        try:
            for matcher in listeners:
                found += _read(matcher.match(item.payload, item.created_ms, now_ms))
        except Exception:
            found.clear()
            self._charge(item.origin, listeners, before, found, now_ms)
            return self._match_one_by_one(item, *witnesses(item), now_ms)
        self._charge(item.origin, listeners, before, found, now_ms)
        if self._on_matched is not None:
            self._on_matched(item)
        return found, ()

    def _charge(
        self, origin: int, matchers: Iterable[Matcher], before: int, found: Sized, now_ms: int
    ) -> None:
        """Charge what matchers counted since `before`, one unit for the call and one for each match."""
        self._budget.charge(origin, 1 + len(found) + self._units(matchers) - before, now_ms)

    def _match_one_by_one(
        self, item: Item, held: Sequence[Subscription], others: Sequence[Item], now_ms: int
    ) -> tuple[Sequence[Match], Sequence[Failure]]:
        try:
            for make in self._makers[item.language]:
                _read(self._made(make).match(item.payload, item.created_ms, now_ms))
        except REFUSALS:
            raise
        except Exception as error:
            return (), [(item, error)]
        matches: list[Match] = []
        failures: list[tuple[Subscription, Exception]] = []
        undecided: list[Failure] = []
        succeeded = False
        for subscription in held:
            if self._budget.is_spent(item.origin, now_ms):
                undecided.append((item, BudgetSpent()))
                break
            try:
                found = self._pairs(subscription, [item], item.origin, now_ms)
            except self._budget.exceeded as error:
                undecided.append((item, error))
            except Exception as error:
                failures.append((subscription, error))
                if not succeeded and len(failures) == _TRIALS_MAX:
                    break
            else:
                succeeded = True
                matches += [(subscription.key, degree_u8, detail, None) for _, degree_u8, detail in found]
        if succeeded or not failures:
            at_fault: dict[Item, Exception] = {}
            for subscription, raised in failures:
                is_good = self._matches_any(subscription, others, item.origin, now_ms)
                at_fault.setdefault(item if is_good else subscription.item, raised)
            return matches, [*at_fault.items(), *undecided[:1]]
        first = failures[0][1]
        if isinstance(first, REFUSALS):
            raise first
        return (), [(item, first)]

    def _matches_any(
        self, subscription: Subscription, items: Sequence[Item], payer: int, now_ms: int
    ) -> bool:
        """Return whether a subscription can be matched with any of these notifications."""
        for item in items:
            try:
                self._pairs(subscription, [item], payer, now_ms)
            except Exception:
                continue
            return True
        return False

    def _pairs(
        self, subscription: Subscription, items: Sequence[Item], payer: int, now_ms: int
    ) -> list[Paired]:
        """Return (position, degree, detail) of the notifications that satisfy this subscription, by
        position. The work is charged to the origin `payer`.
        """
        pairs: list[Paired] = []
        for told in self._factories[subscription.item.language]:
            places = [place for place, item in enumerate(items) if item.language == told]
            if places:
                events = [(items[place].payload, items[place].created_ms) for place in places]
                found = self._match_alone(subscription, told, events, payer, now_ms)
                pairs += [
                    (places[position], degree_u8, detail)
                    for position, matches in found.items()
                    if 0 <= position < len(places)
                    for _, degree_u8, detail, revision in matches
                    if revision is None or revision == subscription.seq
                ]
        return sorted(pairs)

    def _match_alone(
        self,
        subscription: Subscription,
        told: int,
        events: Sequence[tuple[bytes, int]],
        payer: int,
        now_ms: int,
    ) -> dict[int, list[Match]]:
        """Return what of some notifications of one language satisfies a subscription, by their places."""
        language, key = subscription.item.language, subscription.key
        single = self._single.pop((language, told), None) or self._made(self._factories[language][told])
        before = units_of(single)
        found: dict[int, list[Match]] = {}
        try:
            single.add(key, subscription.body)
            for position, matches in single.match_batch(events, now_ms):
                found[int(position)] = _read(matches)
        finally:
            self._charge(payer, (single,), before, events, now_ms)
        with suppress(Exception):
            single.remove(key)
            # After a failure its content is unknown, so it is not used again.
            self._single[language, told] = single
        return found

    def match_single(
        self,
        subscription: Subscription,
        items: Sequence[Item],
        others: Sequence[Item],
        is_good: Callable[[Item], bool],
        now_ms: int,
    ) -> tuple[Sequence[Paired], Sequence[Failure]]:
        """Return (position, degree) of the notifications that satisfy this subscription, by position; and
        whose fault it is if the matcher failed. One `is_good` if another subscription got on with it;
        `others` are more notifications, tried only to find out who is at fault.
        """
        payer = subscription.item.origin
        try:
            return self._pairs(subscription, items, payer, now_ms), ()
        except Exception:
            pass
        found: list[Paired] = []
        failures: list[Failure] = []
        undecided: list[Failure] = []
        succeeded = False
        for position, item in enumerate(items):
            try:
                alone = self._pairs(subscription, [item], payer, now_ms)
            except self._budget.exceeded as error:
                undecided.append((item, error))
            except Exception as error:
                failures.append((item, error))
                if is_good(item):
                    return (), [(subscription.item, error)]
                if not succeeded and len(failures) == _TRIALS_MAX:
                    break
            else:
                succeeded = True
                found += [(position, degree_u8, detail) for _, degree_u8, detail in alone]
        origins = {item.origin for item, _ in failures}
        for item in others if failures and not succeeded else ():
            try:
                self._pairs(subscription, [item], payer, now_ms)
            except self._budget.exceeded:
                continue
            except Exception as error:
                if is_good(item):
                    return (), [(subscription.item, error)]
                origins.add(item.origin)
            else:
                succeeded = True
                break
        if not succeeded and len(origins) > 1:
            return (), [(subscription.item, failures[0][1])]
        return found, failures + undecided

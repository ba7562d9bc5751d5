"""Who carries one message, and who gets it, under binary spray and wait: from the table of contacts and the
definition alone, with nothing of `dens/`.

The definition: a publisher gives all copies to the first mediator that it meets. A mediator with n > 1
copies gives half of them to each mediator in contact that it takes to lack the message, in the order in which
their contacts began, and keeps the other half each time. It takes a peer to have the message when the peer
gave it or answered it, or had it when their contact began. A copy is spent when it is given. A peer that has
the message from elsewhere gives it back with its answer. A copy that comes back is given whole to the next
peer; if nothing else is given in between, it is what it was before.

Time goes in rounds: what is given in one round is there at its end, the answer at the end of the next. All
else waits for the rounds after a change to end.

A contact that is cut ends in the round in which the message is first given in it. Then the copy is spent,
until the two meet again: a taker that lacks the message gives it back, one that has it keeps it.
"""

from dataclasses import dataclass, field

Pair = tuple[int, int]


@dataclass
class Mediator:
    """What a mediator knows."""

    left: int = 0
    """Copies it may give, its own included; 0 is for a mediator without the message."""
    given: dict[int, tuple[int, int]] = field(default_factory=dict)
    """What was given to whom and is not answered: copies before, and copies given."""
    back: list[tuple[int, int]] = field(default_factory=list)
    """What came back while other copies were given: copies before, and copies given."""


class CopyOracle:
    """One message and its copies. Mediators are the numbers below `ends`."""

    def __init__(self, copies: int, mediators: int, publisher: int, subscriber: int) -> None:
        self.copies = copies
        self.publisher = publisher
        self.subscriber = subscriber
        self.mediators = {number: Mediator() for number in range(1, mediators + 1)}
        self.contacts: dict[int, list[int]] = {
            number: [] for number in (*self.mediators, publisher, subscriber)
        }
        """Open contacts of each node, in the order in which they began."""
        self.has: set[Pair] = set()
        """(a, b): a takes b, in contact, to have the message."""
        self.is_made = False
        self.holder: int | None = None
        """The mediator to which the publisher gave the message."""
        self.is_answered = False
        self.carriers: set[int] = set()
        self.is_delivered = False

    def publish(self) -> None:
        """Let the publisher make the message."""
        self.is_made = True
        self._spread(None)

    def begin(self, a: int, b: int, cut: str | None = None) -> None:
        """Let a contact begin; `cut` ends it "before" or "after" the message has crossed."""
        for one, other in ((a, b), (b, a)):
            self.contacts[one].append(other)
            if self._has(other):
                self.has.add((one, other))
            if one in self.mediators and other in self.mediators[one].given:
                before, given = self.mediators[one].given.pop(other)
                if not self._has(other):
                    self._come_back(one, before, given)
            if one == self.publisher and other == self.holder and not self.is_answered:
                self.is_answered = self._has(other)
                self.holder = other if self.is_answered else None
        self._spread(None if cut is None else ((a, b), cut))

    def end(self, a: int, b: int) -> None:
        """Let a contact end."""
        for one, other in ((a, b), (b, a)):
            self.contacts[one].remove(other)
            self.has.discard((one, other))

    def _has(self, node: int) -> bool:
        return node in self.mediators and self.mediators[node].left > 0

    def _come_back(self, node: int, before: int, given: int) -> None:
        own = self.mediators[node]
        own.back.append((before, given))
        while any(one[1] == own.left for one in own.back):
            one = next(one for one in own.back if one[1] == own.left)
            own.back.remove(one)
            own.left = one[0]

    def _take(self, node: int) -> tuple[int, int] | None:
        """Take a copy from a mediator to give it away; what came back goes first."""
        own = self.mediators[node]
        if own.back:
            return own.back.pop(0)
        if own.left < 2:
            return None
        own.left //= 2
        return 2 * own.left, own.left

    def _spread(self, cut: tuple[Pair, str] | None) -> None:
        answers: list[tuple[int, int, bool]] = []
        is_moving = True
        while is_moving:
            offers = self._offers()
            arrived = answers
            answers = []
            if cut is not None and (crossing := [one for one in offers if set(one[:2]) == set(cut[0])]):
                if cut[1] == "before":
                    offers = [one for one in offers if one not in crossing]
                self._arrive(offers, answers)
                self.end(*cut[0])
                answers = [one for one in answers if set(one[:2]) != set(cut[0])]
                cut = None
            else:
                self._arrive(offers, answers)
            for taker, giver, was_taken in arrived:
                self._answer(taker, giver, was_taken)
            is_moving = bool(offers or arrived or answers)
        carriers = {node for node in self.mediators if self.mediators[node].left}
        self.carriers |= carriers
        if any(node in self.contacts[self.subscriber] for node in carriers):
            self.is_delivered = True
        if cut is not None:
            self.end(*cut[0])

    def _offers(self) -> list[tuple[int, int, int]]:
        """Return who gives how many copies to whom in this round."""
        offers: list[tuple[int, int, int]] = []
        for giver, own in self.mediators.items():
            for taker in self.contacts[giver]:
                if taker in self.mediators and (giver, taker) not in self.has and taker not in own.given:
                    if not own.left or (taken := self._take(giver)) is None:
                        continue
                    own.given[taker] = taken
                    offers.append((giver, taker, taken[1]))
        if self.is_made and self.holder is None and self.contacts[self.publisher]:
            self.holder = self.contacts[self.publisher][0]
            offers.append((self.publisher, self.holder, self.copies))
        return offers

    def _arrive(self, offers: list[tuple[int, int, int]], answers: list[tuple[int, int, bool]]) -> None:
        for giver, taker, copies in offers:
            own = self.mediators[taker]
            is_new = not own.left
            if is_new:
                own.left = copies
            self.has.add((taker, giver))
            answers.append((taker, giver, is_new))

    def _answer(self, taker: int, giver: int, was_taken: bool) -> None:
        self.has.add((giver, taker))
        if giver == self.publisher:
            self.is_answered = True
            return
        before, given = self.mediators[giver].given.pop(taker)
        if not was_taken:
            self._come_back(giver, before, given)

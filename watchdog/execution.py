"""The execution environment: it runs the sources that subscriptions need, and no others.

A source is an object with the methods `start()`, `read_into(reading, stamp_s)` and `stop()`. A registry maps
protocol and content type to its class; the local data dictionary decides which sources serve a subscription.
An object is created when its source is started for the first time, and kept when it is stopped: a file
continues where it was left, and events keep their numbers.

Exceptions of a source are counted, and reported once until the same method succeeds again.
"""

from watchdog.codes import NOT_MEASURED, SOURCE_FAILED, UNKNOWN_SOURCE

START = "start"
READ = "read"
STOP = "stop"


class ExecutionEnvironment:
    """The sources of one node, by their numbers in its dictionary. Each runs while it is needed.

    The watchdog reports subscriptions that are installed and removed (`admit`, `keep`, `forget`). The node
    itself may keep a source running without any (`hold`).
    """

    def __init__(self, dictionary, registry: dict, report=None) -> None:  # type: ignore[no-untyped-def,type-arg]
        """Start nothing yet.

        `dictionary.pairs` has (protocol, content type) of each source. `dictionary.serving(language, vector)`
        returns a mask of the sources that serve a subscription, -1 if none does; an invalid subscription
        raises VectorError. `registry` maps pairs to factories of sources by number. `report` is called with
        (number, verb, error) of failures.
        """
        pairs = dictionary.pairs
        self.pairs = pairs
        self.failed = {START: 0, READ: 0, STOP: 0}
        self._dictionary = dictionary
        self._registry = registry
        self._report = report
        self._made = [None for _ in pairs]  # type: list  # type: ignore[type-arg]
        self._runs = [False for _ in pairs]
        self._users = [0 for _ in pairs]
        self._held = [False for _ in pairs]
        self._reported = [{} for _ in pairs]  # type: list[dict[str, bool]]
        self._masks = {}  # type: dict[int, int]

    def admit(self, language: int, vector: bytes) -> int:
        """Start the sources of this subscription. Return them as a mask, for `keep`, or minus the result code
        of a refusal; then nothing has changed.
        """
        mask = self._dictionary.serving(language, vector)  # type: int
        if mask < 0:
            return -NOT_MEASURED
        refusal = UNKNOWN_SOURCE if mask else 0
        for number in range(len(self.pairs)):
            if mask >> number & 1:
                if self._start(number):
                    refusal = 0
                elif refusal and self.pairs[number] in self._registry:
                    refusal = SOURCE_FAILED
        return -refusal if refusal else mask

    def keep(self, origin: int, id: int, mask: int) -> None:
        """Run these sources for an installed subscription, instead of those that it had."""
        self._count(mask, 1)
        before = self._masks.get(origin << 8 | id, 0)
        self._masks[origin << 8 | id] = mask
        self._count(before, -1)
        self.settle()

    def forget(self, origin: int, id: int) -> None:
        """Stop the sources that only this subscription needs; an unknown one is ignored."""
        self._count(self._masks.pop(origin << 8 | id, 0), -1)
        self.settle()

    def hold(self, number: int) -> bool:
        """Run a source from now on, needed or not; return whether it runs."""
        if not self._held[number]:
            self._held[number] = True
            self._users[number] += 1
        return self._start(number)

    def let_go(self, number: int) -> None:
        """Run a source only while a subscription needs it."""
        if self._held[number]:
            self._held[number] = False
            self._users[number] -= 1
        self.settle()

    def settle(self) -> None:
        """Stop sources that are not needed."""
        for number in range(len(self.pairs)):
            if self._runs[number] and not self._users[number]:
                self._runs[number] = False
                self._attempt(number, STOP)

    def runs(self, number: int) -> bool:
        """Return whether a source runs."""
        return self._runs[number]

    def read_into(self, number: int, reading, stamp_s: int) -> bool:  # type: ignore[no-untyped-def]
        """Fill the reading with a source's next event; False if it has none, is not needed, or failed. A
        needed source that could not be started is tried again.
        """
        if not self._users[number] or not self._start(number):
            return False
        return self._attempt(number, READ, reading, stamp_s)

    def _count(self, mask: int, step: int) -> None:
        for number in range(len(self.pairs)):
            if mask >> number & 1:
                self._users[number] += step

    def _start(self, number: int) -> bool:
        """Start a source if it does not run; return whether it runs."""
        if not self._runs[number] and self.pairs[number] in self._registry:
            self._runs[number] = self._attempt(number, START)
        return self._runs[number]

    def _attempt(self, number: int, verb: str, reading=None, stamp_s: int = 0) -> bool:  # type: ignore[no-untyped-def]
        """Call a method of a source; return whether it succeeded, or for READ what the source returns."""
        try:
            done = True
            if self._made[number] is None:
                self._made[number] = self._registry[self.pairs[number]](number)
            source = self._made[number]
            if verb == START:
                source.start()
            elif verb == STOP:
                source.stop()
            else:
                done = source.read_into(reading, stamp_s)
            self._reported[number].pop(verb, None)
            return done
        except Exception as error:
            self.failed[verb] += 1
            if verb not in self._reported[number]:
                self._reported[number][verb] = True
                if self._report is not None:
                    self._report(number, verb, error)
            return False

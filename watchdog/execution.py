"""The execution environment: it runs the sources that subscriptions need, and no others.

A source is anything with three verbs: `start()`, `read_into(reading, stamp_s)`, `stop()`. Of which class it
is says a registry, by protocol and content type; which sources serve a subscription says the local data
dictionary. An object is made when its source is started for the first time, and kept when it is stopped: a
file goes on where it was left, and events keep their numbers.

Whatever a source raises ends nothing. It is counted, and told once until the same verb succeeds again.
"""

from watchdog.codes import NOT_MEASURED, SOURCE_FAILED, UNKNOWN_SOURCE

START = "start"
READ = "read"
STOP = "stop"


class ExecutionEnvironment:
    """The sources of one node, by their numbers in its dictionary; each runs while somebody needs it.

    It is told by the watchdog of every subscription that comes and goes (`admit`, `keep`, `forget`). Somebody
    at the node itself may want a source whoever asks (`hold`).
    """

    def __init__(self, dictionary, registry: dict, tell=None) -> None:  # type: ignore[no-untyped-def,type-arg]
        """Start nothing yet.

        `dictionary.pairs` has (protocol, content type) of each source, and `dictionary.serving(language,
        vector)` returns a mask of the sources that serve a subscription, or -1 where none does; for bytes
        that are no subscription it raises VectorError. `registry` maps pairs to what makes a source of its
        number. `tell(number, verb, error)` hears of failures.
        """
        pairs = dictionary.pairs
        self.pairs = pairs
        self.failed = {START: 0, READ: 0, STOP: 0}
        self._dictionary = dictionary
        self._registry = registry
        self._tell = tell
        self._made = [None for _ in pairs]  # type: list  # type: ignore[type-arg]
        self._runs = [False for _ in pairs]
        self._users = [0 for _ in pairs]
        self._held = [False for _ in pairs]
        self._told = [{} for _ in pairs]  # type: list[dict[str, bool]]
        self._masks = {}  # type: dict[int, int]

    def admit(self, language: int, vector: bytes) -> int:
        """Start what serves this subscription. Return its sources as a mask, which `keep` takes, or minus the
        answer that refuses it; then nothing has changed.
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
        """Let these sources run for a subscription that is in force, instead of those that it had."""
        self._count(mask, 1)
        before = self._masks.get(origin << 8 | id, 0)
        self._masks[origin << 8 | id] = mask
        self._count(before, -1)
        self.settle()

    def forget(self, origin: int, id: int) -> None:
        """Stop what ran for this subscription alone; one that is not known is no error."""
        self._count(self._masks.pop(origin << 8 | id, 0), -1)
        self.settle()

    def hold(self, number: int) -> bool:
        """Let a source run whoever asks, from now on; tell whether it does."""
        if not self._held[number]:
            self._held[number] = True
            self._users[number] += 1
        return self._start(number)

    def let_go(self, number: int) -> None:
        """Let a source run only while somebody asks."""
        if self._held[number]:
            self._held[number] = False
            self._users[number] -= 1
        self.settle()

    def settle(self) -> None:
        """Stop what nobody needs."""
        for number in range(len(self.pairs)):
            if self._runs[number] and not self._users[number]:
                self._runs[number] = False
                self._attempt(number, STOP)

    def runs(self, number: int) -> bool:
        """Tell whether a source runs."""
        return self._runs[number]

    def read_into(self, number: int, reading, stamp_s: int) -> bool:  # type: ignore[no-untyped-def]
        """Fill the reading with a source's next event; False where there is none, it is not needed, or it
        failed. One that is needed and could not be started is tried again.
        """
        if not self._users[number] or not self._start(number):
            return False
        return self._attempt(number, READ, reading, stamp_s)

    def _count(self, mask: int, step: int) -> None:
        for number in range(len(self.pairs)):
            if mask >> number & 1:
                self._users[number] += step

    def _start(self, number: int) -> bool:
        """Tell whether a source runs, and start it where it does not."""
        if not self._runs[number] and self.pairs[number] in self._registry:
            self._runs[number] = self._attempt(number, START)
        return self._runs[number]

    def _attempt(self, number: int, verb: str, reading=None, stamp_s: int = 0) -> bool:  # type: ignore[no-untyped-def]
        """Ask a source for something; tell whether it was done, which of a reading the source itself says."""
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
            self._told[number].pop(verb, None)
            return done
        except Exception as error:
            self.failed[verb] += 1
            if verb not in self._told[number]:
                self._told[number][verb] = True
                if self._tell is not None:
                    self._tell(number, verb, error)
            return False

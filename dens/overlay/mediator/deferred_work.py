"""Work of a mediator that is done in later steps: what its origin has no budget for, and what a restart left.

Jobs of one origin are done in the order in which they came; origins take turns. A step is bounded in units
(`limits.work_step`), so that a node answers its peers between two steps.
"""

from collections import deque
from collections.abc import Sequence

from dens.overlay.session.work_budget import WorkBudget
from dens.overlay.storage.notification_store import Carried
from dens.overlay.wire.item import NEVER_MS, Item, ItemId


class Unmatched:
    """A notification that is held and not matched yet."""

    __slots__ = ("from_before", "item_id", "origin")

    def __init__(self, item: Item, from_before: bool) -> None:
        self.item_id: ItemId = item.id
        self.origin = item.origin
        self.from_before = from_before


class Backlog:
    """A subscription, and the notifications held before it came: from `matched` on they are to be matched,
    from `composed` on to be composed.
    """

    __slots__ = ("batch", "carried", "composed", "is_composed", "item_id", "matched", "origin")

    def __init__(self, item: Item, carried: Sequence[Carried], is_composed: bool) -> None:
        self.item_id: ItemId = item.id
        self.origin = item.origin
        self.carried = carried
        self.matched = 0
        self.composed = 0
        self.is_composed = is_composed
        self.batch = 1
        """How many are matched at once: few, until it is known what one costs."""

    @property
    def left(self) -> int:
        """Return how many notifications it still refers to."""
        return len(self.carried) - (self.composed if self.is_composed else self.matched)


Job = Unmatched | Backlog


class DeferredWork:
    """The jobs that wait, by origin."""

    __slots__ = ("_budget", "_queues", "due_ms", "referred")

    def __init__(self, budget: WorkBudget) -> None:
        self._budget = budget
        self._queues: dict[int, deque[Job]] = {}
        self.due_ms = NEVER_MS
        """When the next step is due."""
        self.referred = 0
        """How many notifications the backlogs refer to."""

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def put(self, job: Job, now_ms: int) -> None:
        """Let a job wait behind the others of its origin."""
        queue = self._queues.get(job.origin)
        if queue is None:
            queue = self._queues[job.origin] = deque()
        queue.append(job)
        if isinstance(job, Backlog):
            self.referred += job.left
        self.due_ms = min(self.due_ms, self._budget.ready_ms(job.origin, now_ms))

    def put_back(self, job: Job, now_ms: int) -> None:
        """Let a job that is not done wait before the others of its origin."""
        self.put(job, now_ms)
        self._queues[job.origin].rotate(1)

    def take(self, now_ms: int) -> Job | None:
        """Return the next job whose origin has budget, or None; the next time its origin is the last."""
        for origin in self._queues:
            if not self._budget.is_spent(origin, now_ms):
                queue = self._queues.pop(origin)
                job = queue.popleft()
                if queue:
                    self._queues[origin] = queue
                if isinstance(job, Backlog):
                    self.referred -= job.left
                return job
        return None

    def settle(self, now_ms: int) -> None:
        """Find out when the next step is due."""
        self.due_ms = min(
            (self._budget.ready_ms(origin, now_ms) for origin in self._queues), default=NEVER_MS
        )

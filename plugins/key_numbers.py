"""Subscription keys as numbers of 32 bits, for stores whose rows have room for no more.

An ordinary key, with an origin below 16,711,680 and an id below 256, is its own number: origin·256 + id.
Every other key has an alias while it is held: a number from `FIRST_ALIAS` on that belongs to no ordinary key.
So ordinary keys cost nothing, and node numbers up to 2³¹ − 1 and message numbers as ids work in every store.

    >>> numbers = KeyNumbers()
    >>> numbers.take((7, 1)), numbers.take((1 << 24, 1)) == FIRST_ALIAS
    (1793, True)
    >>> numbers.key_of(1793), numbers.key_of(FIRST_ALIAS)
    ((7, 1), (16777216, 1))
"""

from typing import Final

from plugins.language import SubscriptionKey

FIRST_ALIAS: Final = 0xFF000000
"""The first number that is an alias; ordinary keys have the numbers below."""

_ALIASES: Final = (1 << 32) - FIRST_ALIAS


class KeyNumbers:
    """Numbers of the keys that one matcher holds."""

    __slots__ = ("_aliases", "_free", "_keys")

    def __init__(self) -> None:
        self._aliases: dict[SubscriptionKey, int] = {}
        self._keys: dict[int, SubscriptionKey] = {}
        self._free: list[int] = []

    @property
    def has_aliases(self) -> bool:
        """Return whether any held key has an alias."""
        return bool(self._aliases)

    def number_of(self, key: SubscriptionKey) -> int | None:
        """Return the number of a key, or None if it would need an alias and has none (so it is not held)."""
        origin, id = key
        if 0 <= origin < FIRST_ALIAS >> 8 and 0 <= id <= 0xFF:
            return origin << 8 | id
        return self._aliases.get(key)

    def take(self, key: SubscriptionKey) -> int:
        """Return a number for a key that will be held. A negative key raises `ValueError`."""
        number = self.number_of(key)
        if number is None:
            check_key(key)
            if not self._free and len(self._aliases) == _ALIASES:
                raise OverflowError(f"all {_ALIASES} aliases of keys with large numbers are in use")
            number = self._free.pop() if self._free else FIRST_ALIAS + len(self._aliases)
            self._aliases[key], self._keys[number] = number, key
        return number

    def release(self, key: SubscriptionKey) -> None:
        """Free the number of a key; an unknown key is ignored."""
        number = self._aliases.pop(key, None)
        if number is not None:
            del self._keys[number]
            self._free.append(number)

    def key_of(self, number: int) -> SubscriptionKey:
        """Return the key of a number that is taken."""
        return (number >> 8, number & 255) if number < FIRST_ALIAS else self._keys[number]


def check_key(key: SubscriptionKey) -> None:
    """Raise `ValueError` if no subscription can have this key."""
    if min(key) < 0:
        raise ValueError(f"{key} is not a subscription key: origin and id are at least 0")

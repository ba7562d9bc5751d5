"""From any Boolean function over predicates to its canonical form.

Connectives alternate, operands are sorted by their bytes without duplicates, and a flat function is encoded
flat.
"""

from plugins.atopss.subscriptions import Form, Function, Joined, Norm, Predicate, Subscription
from plugins.atopss.vectors import DEEPEST, MOST_OPERANDS, MOST_PREDICATES, entry
from watchdog.tokens import AND, OR


def canonical(
    event: int,
    function: Function,
    norm: Norm = Norm.MIN,
    *,
    possibility: int = 0,
    necessity: int = 0,
    stamp_s: int = 0,
) -> Subscription:
    """Return the subscription with this function. One that is too large raises `ValueError`."""
    tree = _simple(function)
    ordered = sorted(_predicates(tree), key=lambda predicate: entry(predicate, norm))
    if len(ordered) > MOST_PREDICATES:
        raise ValueError(
            f"a subscription has at most {MOST_PREDICATES} predicates, this one has {len(ordered)}"
        )
    ranks = {predicate: rank for rank, predicate in enumerate(ordered)}
    tokens = b""
    form = Form.AND
    if isinstance(tree, Joined):
        if all(isinstance(part, Predicate) for part in tree.parts):
            form = Form.OR if tree.is_or else Form.AND
        else:
            form, tokens = Form.TOKENS, _tokens(tree, ranks, DEEPEST)
    return Subscription(event, tuple(ordered), form, tokens, norm, possibility, necessity, stamp_s)


def _simple(function: Function) -> Function:
    """Return the function with alternating connectives and without duplicate operands."""
    if isinstance(function, Predicate):
        return function
    parts: dict[Function, None] = {}
    for part in map(_simple, function.parts):
        is_same = isinstance(part, Joined) and part.is_or == function.is_or
        parts |= dict.fromkeys(part.parts if isinstance(part, Joined) and is_same else [part])
    return Joined(function.is_or, tuple(parts)) if len(parts) > 1 else next(iter(parts))


def _predicates(function: Function) -> set[Predicate]:
    if isinstance(function, Predicate):
        return {function}
    return set().union(*map(_predicates, function.parts))


def _tokens(function: Function, ranks: dict[Predicate, int], room: int) -> bytes:
    if isinstance(function, Predicate):
        return bytes([ranks[function]])
    if not room:
        raise ValueError(f"the function is nested more than {DEEPEST} deep")
    if len(function.parts) > MOST_OPERANDS:
        raise ValueError(f"a nested connective joins at most {MOST_OPERANDS} operands")
    operands = sorted({_tokens(part, ranks, room - 1) for part in function.parts})
    return b"".join(operands) + bytes([(OR if function.is_or else AND) | len(operands)])

"""Independent definitions of what the watchdog computes: exact fractions, plain recursion, no shared code."""

from fractions import Fraction
from functools import reduce
from math import ceil

Tree = int | tuple[str, list["Tree"]]  # a predicate's position, or ("and" | "or" | "not", operands)


def exact_slope(code: int) -> Fraction:
    """256·γ(code), rounded as docs/reference/vector-format.md says, found by exact comparison of eighteenth
    powers."""
    low, high = 0, 1 << 20
    while high - low > 1:
        middle = (low + high) // 2
        # middle - 1/2 <= 128·2^(code/18)  <=>  (2·middle - 1)^18 <= 256^18 · 2^code
        if (2 * middle - 1) ** 18 <= 256**18 * 2**code:
            low = middle
        else:
            high = middle
    return Fraction(low)


def membership(x: int, v: int, V: int, g: int) -> int:
    """The integer membership of docs/reference/vector-format.md."""
    d = max(v - x, x - V, 0)
    code = g & 127
    if d == 0:
        result = 255
    elif code == 127:
        result = 0
    else:
        result = 255 - min(255, (d * int(exact_slope(code)) + 128) >> 8)
    return 255 - result if g & 128 else result


def root(value: int, n: int) -> int:
    """The floor of the n-th root."""
    low, high = 0, 256
    while high - low > 1:
        middle = (low + high) // 2
        if middle**n <= value:
            low = middle
        else:
            high = middle
    return low


def conjunction(a: int, b: int, norm: int) -> int:
    """The T-norm of two degrees: minimum, product rounded half up, Łukasiewicz."""
    if norm == 1:
        return int(Fraction(a * b, 255) + Fraction(1, 2))
    return max(0, a + b - 255) if norm == 2 else min(a, b)


def disjunction(a: int, b: int, norm: int) -> int:
    """The T-conorm of two degrees, each from its own formula: maximum, probabilistic sum, bounded sum."""
    if norm == 1:
        exact = a + b - Fraction(a * b, 255)
        return ceil(exact - Fraction(1, 2))
    return min(255, a + b) if norm == 2 else max(a, b)


def exact_tree(tree: Tree, degrees: list[int], norm: int = 0) -> int:
    """and = T-norm, or = T-conorm, not = complement."""
    if isinstance(tree, int):
        return degrees[tree]
    name, operands = tree
    values = [exact_tree(operand, degrees, norm) for operand in operands]
    if name == "not":
        return 255 - values[0]
    join = conjunction if name == "and" else disjunction
    return reduce(lambda a, b: join(a, b, norm), values)


def is_predicate(tree: Tree) -> bool:
    """A predicate, or the negation of one."""
    return isinstance(tree, int) or (tree[0] == "not" and isinstance(tree[1][0], int))


def broken_down_tree(tree: Tree, degrees: list[int], norm: int = 0) -> int:
    """A connective over predicates only is the mean over pairs, any other joins with norm or conorm."""
    if isinstance(tree, int):
        return degrees[tree]
    name, operands = tree
    values = [broken_down_tree(operand, degrees, norm) for operand in operands]
    if name == "not":
        return 255 - values[0]
    join = conjunction if name == "and" else disjunction
    if not all(is_predicate(operand) for operand in operands):
        return reduce(lambda a, b: join(a, b, norm), values)
    pairs = [join(a, b, norm) for i, a in enumerate(values) for b in values[i + 1 :]]
    mean = Fraction(sum(pairs), len(pairs))
    # a half goes up under and, down under or, so that each is the complement of the other
    return int(mean + Fraction(1, 2)) if name == "and" else ceil(mean - Fraction(1, 2))


def lowest(tree: Tree) -> int:
    """The lowest predicate in it."""
    return tree if isinstance(tree, int) else min(lowest(operand) for operand in tree[1])


def height(tree: Tree) -> int:
    """Connectives on the longest way down."""
    if isinstance(tree, int):
        return 0
    below = max(height(operand) for operand in tree[1])
    return below + (tree[0] != "not")


def normal(tree: Tree) -> Tree:
    """The one spelling of a tree: flat connectives, operands in order, no double not, no lone operand."""
    if isinstance(tree, int):
        return tree
    name, operands = tree
    inner = [normal(operand) for operand in operands]
    if name == "not":
        child = inner[0]
        return child[1][0] if not isinstance(child, int) and child[0] == "not" else ("not", [child])
    flat: list[Tree] = []
    for operand in inner:
        if not isinstance(operand, int) and operand[0] == name:
            flat.extend(operand[1])
        else:
            flat.append(operand)
    flat.sort(key=lowest)
    return flat[0] if len(flat) == 1 else (name, flat)


def has_not(tree: Tree) -> bool:
    """Whether anything in it is negated."""
    return not isinstance(tree, int) and (tree[0] == "not" or any(has_not(o) for o in tree[1]))


def leaves(tree: Tree) -> list[int]:
    """Its predicates from left to right."""
    return [tree] if isinstance(tree, int) else [leaf for operand in tree[1] for leaf in leaves(operand)]


def pattern_block(tree: Tree, k: int, norm: int = 0) -> bytes:
    """The block of a normal tree, from the grammar in docs/reference/vector-format.md."""
    if norm and k > 1:
        plain = pattern_block(tree, k)
        return bytes([plain[0] + 1, 192 + norm]) + plain[1:]
    if k <= 8 and not has_not(tree) and height(tree) <= 2 and leaves(tree) == list(range(k)):
        if isinstance(tree, int):
            return bytes([1, 0])
        name, operands = tree
        if height(tree) == 1:
            return bytes([1, 128 if name == "and" else 0])
        borders = 0
        for operand in operands[:-1]:
            borders |= 1 << max(leaves(operand))
        return bytes([1, borders | (128 if name == "or" else 0)])

    def tokens(node: Tree) -> list[int]:
        if isinstance(node, int):
            return [node]
        name, operands = node
        inner = [token for operand in operands for token in tokens(operand)]
        return [*inner, 192 if name == "not" else (64 if name == "and" else 128) + len(operands)]

    found = tokens(tree)
    return bytes([len(found)]) + bytes(found)

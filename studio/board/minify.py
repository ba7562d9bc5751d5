"""Makes Python sources small for a board whose heap holds every name and every docstring of what it imports.

All sources are treated together, as one closed world: what they define is renamed in all of them alike. What
a board's own modules define (`append`, `read` …) keeps its name. Afterwards the sources do the same as
before, as long as nobody looks up a renamed thing by its string; names that occur as strings are therefore
left alone.
"""

import ast
import builtins
import io
import operator
import tokenize
from array import array
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_lowercase, ascii_uppercase

_FOREIGN = frozenset(
    name
    for kind in (
        str,
        bytes,
        bytearray,
        list,
        dict,
        int,
        set,
        tuple,
        array,
        io.BytesIO,
        io.StringIO,
        Exception,
    )
    for name in dir(kind)
)
"""Attributes that belong to the runtime: they are not ours to rename, and a board knows them anyhow."""


def _short(alphabet: str) -> Iterator[str]:
    """Yield one-letter names, then two-letter ones, that are no keywords."""
    yield from alphabet
    for first in alphabet:
        for second in ascii_lowercase:
            if first + second not in ("as", "if", "in", "is", "or"):
                yield first + second


class _Stripped(ast.NodeTransformer):
    """Removes docstrings, annotations and __slots__."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__slots__":
            return None
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


def integer_constants(tree: ast.Module) -> dict[str, int]:
    """Return the module's constants: upper-case names that are assigned a plain integer, once."""
    found: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.isupper() and isinstance(node.value, ast.Constant) and type(node.value.value) is int:
                found[name] = node.value.value
    return found


class _Inlined(ast.NodeTransformer):
    """Puts integer constants where their names are used, and drops the names."""

    def __init__(self, constants: Mapping[str, int]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.constants and isinstance(node.ctx, ast.Load):
            return ast.Constant(self.constants[node.id])
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.constants:
            return None
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        node.names = [alias for alias in node.names if alias.name not in self.constants]
        return node if node.names else None


_ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


class Specialised(ast.NodeTransformer):
    """Puts one value where a parameter of the whole package is read, and works out what follows from it.

    The parameter is a local variable or an attribute of one of the given names. Its assignments vanish, sums
    of numbers are added up, and a loop over `range(1)` becomes its body.
    """

    def __init__(self, names: frozenset[str], value: int) -> None:
        self.names = names
        self.value = value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(self.value) if node.id in self.names else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in self.names and isinstance(node.ctx, ast.Load):
            return ast.Constant(self.value)
        return self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        target = node.targets[0]
        name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
        return None if name in self.names else self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = _number(node.left), _number(node.right)
        work = _ARITHMETIC.get(type(node.op))
        if work and left is not None and right is not None:
            return ast.Constant(work(left, right))
        if right == 0 and isinstance(node.op, ast.Add | ast.Sub):
            return node.left
        if left == 0 and isinstance(node.op, ast.Add):
            return node.right
        inner = node.left
        if right is not None and isinstance(node.op, ast.Add | ast.Sub) and isinstance(inner, ast.BinOp):
            middle = _number(inner.right)
            if middle is not None and isinstance(inner.op, ast.Add | ast.Sub):
                both = (middle if isinstance(inner.op, ast.Add) else -middle) + (
                    right if isinstance(node.op, ast.Add) else -right
                )
                if both == 0:
                    return inner.left
                return ast.BinOp(inner.left, ast.Add() if both > 0 else ast.Sub(), ast.Constant(abs(both)))
        return node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        call = node.iter
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and len(call.args) == 1
            and _number(call.args[0]) == 1
            and isinstance(node.target, ast.Name)
        ):
            zero = Specialised(frozenset({node.target.id}), 0)
            body: list[ast.stmt] = []
            for statement in node.body:
                changed = zero.visit(statement)
                body += changed if isinstance(changed, list) else [changed]
            return body
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        test = node.test
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
            left, right = _number(test.left), _number(test.comparators[0])
            if left is not None and right is not None:
                return node.body if left == right else node.orelse
        return node


def _number(node: ast.expr) -> int | None:
    """Return the integer that an expression is, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


class _Shaken(ast.NodeTransformer):
    """Leaves out functions, classes and methods that nobody names."""

    def __init__(self, used: frozenset[str]) -> None:
        self.used = used

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        if node.name not in self.used and node.name[:2] != "__":
            return None
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST | None:
        if node.name not in self.used:
            return None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        node.names = [alias for alias in node.names if (alias.asname or alias.name) in self.used]
        return node if node.names else None


def _used(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return every name and attribute that occurs anywhere, except in definitions and in imports without an
    alias.
    """
    found = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.ImportFrom):
                found.update(alias.name for alias in node.names if alias.asname)
    return frozenset(found)


class _Renamed(ast.NodeTransformer):
    """Gives globals, attributes, arguments and local variables their short names."""

    def __init__(
        self, globals_: Mapping[str, str], attributes: Mapping[str, str], fixed: frozenset[str]
    ) -> None:
        self.globals = globals_
        self.attributes = attributes
        self.fixed = fixed
        self.locals: dict[str, str] = {}
        self.in_class = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self.attributes.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.locals.get(node.id) or self.globals.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.locals.get(node.arg, node.arg)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        for alias in node.names:
            given = alias.asname or alias.name
            alias.name = self.globals.get(alias.name, alias.name)
            short = self.globals.get(given, given)
            alias.asname = None if short == alias.name else short
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.globals.get(node.name, node.name)
        self.in_class = True
        self.generic_visit(node)
        self.in_class = False
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        known = self.attributes if self.in_class else self.globals
        node.name = known.get(node.name, node.name)
        outer, self.in_class = self.in_class, False
        names = [a.arg for a in node.args.args]
        names += [
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
        ]
        names += [n.name for n in ast.walk(node) if isinstance(n, ast.ExceptHandler) and n.name]
        fresh = (name for name in _short(ascii_lowercase) if name not in self.fixed)
        self.locals = {name: name if name in self.fixed else next(fresh) for name in dict.fromkeys(names)}
        self.generic_visit(node)
        self.locals = {}
        self.in_class = outer
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name:
            node.name = self.locals.get(node.name, node.name)
        return self.generic_visit(node)


def _strings(trees: list[ast.Module]) -> set[str]:
    """Return every word that occurs as a string: somebody may look it up."""
    return {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def minify(
    sources: Mapping[str, str],
    constants: Mapping[str, int],
    keep: frozenset[str] = frozenset(),
    feature_bytes: int | None = None,
) -> dict[str, str]:
    """Return the sources, by module name, as small as a board likes them.

    `constants` are put where their names stand. Names in `keep` stay as they are. What no source uses, and
    is not kept, is left out. With `feature_bytes` the sources serve features of that size only.
    """
    trees = {name: ast.parse(source) for name, source in sources.items()}
    if feature_bytes is not None:
        special = Specialised(frozenset({"F", "feature_bytes"}), feature_bytes)
        trees = {name: special.visit(tree) for name, tree in trees.items()}
    for name, tree in trees.items():
        trees[name] = _Stripped().visit(tree)
    inlined = {name: value for name, value in constants.items() if name not in keep}
    for name, tree in trees.items():
        trees[name] = _Inlined(inlined).visit(tree)
    while True:
        before = sum(1 for tree in trees.values() for _ in ast.walk(tree))
        used = _used(trees.values()) | keep | _strings(list(trees.values()))
        trees = {name: _Shaken(used).visit(tree) for name, tree in trees.items()}
        if before == sum(1 for tree in trees.values() for _ in ast.walk(tree)):
            break
    words = _strings(list(trees.values())) | keep
    keywords = frozenset(
        node.arg
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg is not None
    )
    globals_: dict[str, str] = {}
    attributes: dict[str, str] = {}
    global_names = _short(ascii_uppercase)
    attribute_names = _short(ascii_lowercase)
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                members = [n.name for n in node.body if isinstance(n, ast.FunctionDef)]
                members += [
                    n.attr
                    for n in ast.walk(node)
                    if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
                ]
                for member in members:
                    if member not in attributes and member not in _FOREIGN | words and member[:2] != "__":
                        attributes[member] = next(attribute_names)
        for node in tree.body:
            defined: list[str] = []
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined = [node.name]
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                defined = [node.targets[0].id]
            elif isinstance(node, ast.ImportFrom):
                defined = [alias.asname for alias in node.names if alias.asname]
            for name in defined:
                if name not in globals_ and name not in words and not hasattr(builtins, name):
                    globals_[name] = next(global_names)
    small = {}
    for name, tree in trees.items():
        renamed = _Renamed(globals_, attributes, keywords).visit(tree)
        small[name] = _text(ast.fix_missing_locations(renamed))
    return small


_COMPOUND = (ast.FunctionDef, ast.ClassDef, ast.If, ast.While, ast.For, ast.Try, ast.With)


def _text(tree: ast.Module) -> str:
    """Return the source of a tree with as few lines and characters as there can be: a board remembers where
    every line of a function begins.
    """
    return "\n".join(_lines(tree.body)) + "\n"


def _lines(body: Iterable[ast.stmt]) -> list[str]:
    """Return a block's lines, indented by single spaces, simple statements that follow each other joined."""
    lines: list[str] = []
    simple: list[str] = []
    for node in body:
        if not isinstance(node, _COMPOUND):
            simple.append(_tight(ast.unparse(node)))
            continue
        if simple:
            lines.append(";".join(simple))
            simple = []
        lines += _compound(node)
    if simple:
        lines.append(";".join(simple))
    return lines


def _compound(node: ast.stmt) -> list[str]:
    """Return the lines of a compound statement: its heads, each with its block on the same line if that can
    be.
    """
    heads: list[tuple[str, list[ast.stmt]]] = []
    parts = {name: list(getattr(node, name, [])) for name in ("body", "orelse", "finalbody", "handlers")}
    if isinstance(node, ast.Try):
        heads.append(("try:", parts["body"]))
        for handler in parts["handlers"]:
            bare = ast.ExceptHandler(handler.type, handler.name, [ast.Pass()])
            text = ast.unparse(ast.Try([ast.Pass()], [bare], [], []))
            heads.append((text.split("\n")[2], handler.body))
    else:
        for name in ("body", "orelse"):
            if parts[name]:
                setattr(node, name, [ast.Pass()] if name == "body" else [])
        heads.append((ast.unparse(node).rsplit("\n", 1)[0].strip(), parts["body"]))
    rest = parts["orelse"]
    if isinstance(node, ast.If) and len(rest) == 1 and isinstance(rest[0], ast.If):
        tail = _compound(rest[0])
        tail[0] = "el" + tail[0]
        rest = []
    else:
        tail = []
    if rest:
        heads.append(("else:", rest))
    if parts["finalbody"]:
        heads.append(("finally:", parts["finalbody"]))
    lines: list[str] = []
    for head, body in heads:
        inner = _lines(body)
        if len(inner) == 1 and not isinstance(body[0], _COMPOUND):
            lines.append(_tight(head) + inner[0])
        else:
            lines.append(_tight(head))
            lines += [" " + line for line in inner]
    return lines + tail


def _tight(text: str) -> str:
    """Return one line of source without the spaces that separate nothing."""
    out: list[str] = []
    previous = tokenize.TokenInfo(tokenize.NL, "", (1, 0), (1, 0), "")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
            continue
        if token.start > previous.end and out and _sticks(out[-1][-1]) and _sticks(token.string[0]):
            out.append(" ")
        out.append(token.string)
        previous = token
    return "".join(out)


def _sticks(character: str) -> bool:
    """Tell whether a character would melt into a word beside it."""
    return character.isalnum() or character in "_\"'"

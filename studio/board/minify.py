"""Makes Python sources small for a board whose heap holds every name and every docstring of what it imports.

All sources are treated together, as one closed world: what they define is renamed in all of them alike. What
a board's own modules define (`append`, `read` …) keeps its name. Afterwards the sources do the same as
before, as long as nobody looks up a renamed thing by its string; names that occur as strings are therefore
left alone.
"""

import ast
import builtins
import io
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
    sources: Mapping[str, str], constants: Mapping[str, int], keep: frozenset[str] = frozenset()
) -> dict[str, str]:
    """Return the sources, by module name, as small as a board likes them.

    `constants` are put where their names stand. Names in `keep` stay as they are. What no source uses, and
    is not kept, is left out.
    """
    trees = {name: ast.parse(source) for name, source in sources.items()}
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


def _text(tree: ast.Module) -> str:
    """Return the source of a tree, indented by single spaces, without empty lines."""
    lines = []
    for line in ast.unparse(tree).split("\n"):
        body = line.lstrip(" ")
        if body:
            lines.append(" " * ((len(line) - len(body)) // 4) + body)
    return "\n".join(lines) + "\n"

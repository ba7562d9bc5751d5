"""Turns classes into functions over lists, for a board on which a class costs more heap than what is in it.

A MicroPython class is an object with a dictionary, each instance has another one, and every attribute is a
name that the board keeps. In what comes out an instance is a list, an attribute a place in it, a method a
function whose first argument is the list, and the class a function that makes one.

The sources declare no types, so the class of an object follows from its name: `self` in a method, otherwise
the class's name in lower case (`pool` and `anything.pool` are a `Pool`), or a name in `CALLED`. An attribute
of ours on an object with another name is refused.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

CALLED = {"host": "SmallHost", "scan": "FlatScan"}
"""Names by which objects of a class go besides its own, where there is such a class."""


@dataclass
class _Class:
    """What is known of one class; a subclass shares the lists of its base."""

    name: str
    bases: list[str]
    attributes: list[str] = field(default_factory=list)
    methods: dict[str, str] = field(default_factory=dict)


def without_classes(trees: Mapping[str, ast.Module], foreign: frozenset[str]) -> dict[str, ast.Module]:
    """Return the modules without the classes that they define, except those with a base from elsewhere.

    `foreign` are attributes that the runtime's own objects have.
    """
    classes: dict[str, _Class] = {}
    homes: dict[str, str] = {}
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and all(ast.unparse(base) in classes for base in node.bases):
                classes[node.name] = _described(node, classes)
                homes[node.name] = module
    called = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): name for name in classes}
    called |= {name: there for name, there in CALLED.items() if there in classes}
    return {
        module: _Declassed(module, classes, homes, called, foreign).visit(tree)
        for module, tree in trees.items()
    }


def _described(node: ast.ClassDef, classes: Mapping[str, _Class]) -> _Class:
    found = _Class(node.name, [ast.unparse(base) for base in node.bases])
    for base in found.bases:
        found.attributes = classes[base].attributes
        found.methods |= classes[base].methods
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            is_own = isinstance(inner.value, ast.Name) and inner.value.id == "self"
            if is_own and inner.attr not in found.attributes:
                found.attributes.append(inner.attr)
    for method in node.body:
        if isinstance(method, ast.FunctionDef):
            found.methods[method.name] = f"{node.name}_{method.name}"
    return found


class _Declassed(ast.NodeTransformer):
    """Rewrites one module."""

    def __init__(
        self,
        module: str,
        classes: Mapping[str, _Class],
        homes: Mapping[str, str],
        called: Mapping[str, str],
        foreign: frozenset[str],
    ) -> None:
        self.module = module
        self.classes = classes
        self.homes = homes
        self.called = called
        self.members = {
            name for one in classes.values() for name in [*one.attributes, *one.methods]
        } - foreign
        self.current: _Class | None = None
        self.needed: set[str] = set()

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.generic_visit(node)
        imports: dict[str, list[str]] = {}
        for name in sorted(self.needed):
            home = self.homes[name.split("_")[0]]
            if home != self.module:
                imports.setdefault(home, []).append(name)
        node.body = [
            *(
                ast.ImportFrom(home, [ast.alias(name) for name in names], 0)
                for home, names in imports.items()
            ),
            *node.body,
        ]
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        node.names = [alias for alias in node.names if alias.name not in self.classes]
        return node if node.names else None

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST | list[ast.stmt]:
        if node.name not in self.classes:
            return self.generic_visit(node)
        self.current = self.classes[node.name]
        functions: list[ast.stmt] = []
        for method in node.body:
            if isinstance(method, ast.FunctionDef):
                self.generic_visit(method)
                if method.name == "__init__":
                    method.name = node.name
                    method.args.args.pop(0)
                    empty = ast.parse(f"self = [0] * {len(self.current.attributes)}").body
                    method.body = [*empty, *method.body, *ast.parse("return self").body]
                else:
                    method.name = self.current.methods[method.name]
                functions.append(method)
        self.current = None
        return functions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        target = node.func
        if isinstance(target, ast.Attribute):
            owner = self._class_of(target.value)
            if owner is not None and target.attr in owner.methods:
                name = owner.methods[target.attr]
                self.needed.add(name)
                node.args.insert(0, target.value)
                node.func = ast.Name(name, ast.Load())
        elif isinstance(target, ast.Name) and target.id in self.classes:
            name = self._maker(target.id)
            self.needed.add(name)
            node.func = ast.Name(name, ast.Load())
        return self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        """A class that is deleted is the function that makes its objects; a base goes with it."""
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if len(names) == len(node.targets):
            makers = dict.fromkeys(self._maker(name) if name in self.classes else name for name in names)
            node.targets = [ast.Name(name, ast.Del()) for name in makers]
        return node

    def _maker(self, name: str) -> str:
        """Return the name of the function that makes objects of a class."""
        while self.classes[name].methods["__init__"] != f"{name}___init__":
            name = self.classes[name].bases[0]
        return name

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        owner = self._class_of(node.value)
        if owner is not None and node.attr in owner.attributes:
            place = ast.Constant(owner.attributes.index(node.attr))
            return ast.Subscript(self.visit(node.value), place, node.ctx)
        if node.attr in self.members:
            raise ValueError(
                f"{self.module}: {ast.unparse(node)}: of which class? Call the object by its class's name"
            )
        return self.generic_visit(node)

    def _class_of(self, node: ast.expr) -> _Class | None:
        """Return the class of an expression by its name, if known."""
        if isinstance(node, ast.Name) and node.id == "self":
            return self.current
        word = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        return self.classes.get(self.called.get(word, ""))

"""Works what is known of a board into a source: constants, parameters, functions that are one expression."""

import ast
import copy
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_SHORT_BYTES = 16


def plain_constants(tree: ast.Module) -> dict[str, int | bytes]:
    """Return the module's constants: upper-case names that are assigned a plain integer or a few bytes."""
    found: dict[str, int | bytes] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            value: Any = node.value.value if isinstance(node.value, ast.Constant) else None
            is_short = isinstance(value, bytes) and len(value) <= _SHORT_BYTES
            if name.isupper() and (type(value) is int or is_short):
                found[name] = value
    return found


class InlineConstants(ast.NodeTransformer):
    """Puts constants where their names are used, and drops the names."""

    def __init__(self, constants: Mapping[str, int | bytes]) -> None:
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


class Specialise(ast.NodeTransformer):
    """Puts a value where a parameter of the whole package is read, and works out what follows from it.

    A parameter is a local variable or an attribute of the given name, a value a number or the name of what
    stands for it. Its assignments vanish, sums of numbers
    are added up, a loop over `range(1)` becomes its body, and of a decision that is made only what was
    decided for stays.
    """

    def __init__(self, values: Mapping[str, int | str | None]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._known(node.id) if node.id in self.values else node

    def _known(self, name: str) -> ast.expr:
        value = self.values[name]
        return ast.Name(value, ast.Load()) if isinstance(value, str) else ast.Constant(value)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in self.values and isinstance(node.ctx, ast.Load):
            return self._known(node.attr)
        return self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        node.targets = [
            target
            for target in node.targets
            if (target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")) not in self.values
        ]
        return self.generic_visit(node) if node.targets else None

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | None:
        self.generic_visit(node)
        target = node.target
        name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
        if name in self.values or (_number(node.value) == 0 and isinstance(node.op, ast.Add | ast.Sub)):
            return None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A local variable that is given one number, once, is that number."""
        self.generic_visit(node)
        stored = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        stored += [argument.arg for argument in node.args.args]
        fixed = {
            n.targets[0].id: number
            for n in ast.walk(node)
            if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name)
            if stored.count(n.targets[0].id) == 1 and (number := _number(n.value)) is not None
        }
        fixed = {name: value for name, value in fixed.items() if name not in self.values}
        return Specialise(fixed).visit(node) if fixed else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        decisive = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for position, value in enumerate(node.values):
            is_constant = isinstance(value, ast.Constant)
            if not is_constant or position == len(node.values) - 1:
                values.append(value)
            elif bool(value.value) is decisive:  # type: ignore[attr-defined]
                values.append(value)
                break
        node.values = values
        return values[0] if len(values) == 1 else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            return inner.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Constant):
            return ast.Constant(not inner.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = _number(node.left), _number(node.right)
        work = _ARITHMETIC.get(type(node.op))
        if work and left is not None and right is not None:
            return ast.Constant(work(left, right))
        if right == 0 and isinstance(node.op, ast.Add | ast.Sub):
            return node.left
        if right == 0 and isinstance(node.op, ast.Mult):
            return node.right
        if right == 1 and isinstance(node.op, ast.Mult):
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
            zero = Specialise({node.target.id: 0})
            body: list[ast.stmt] = []
            for statement in node.body:
                changed = zero.visit(statement)
                body += changed if isinstance(changed, list) else [changed] if changed else []
            return body
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        test = node.test
        if isinstance(test, ast.Constant):
            return node.body if test.value else node.orelse
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
            left, right = _number(test.left), _number(test.comparators[0])
            if left is not None and right is not None:
                return node.body if left == right else node.orelse
        return node


class InlineExpressions(ast.NodeTransformer):
    """Puts the body of a function that is one expression, or one decision, where it is called."""

    def __init__(self, functions: Mapping[str, tuple[list[str], ast.expr]]) -> None:
        self.functions = functions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in self.functions or node.keywords or not all(map(_is_plain, node.args)):
            return node
        arguments, body = self.functions[name]
        replaced: ast.AST = _Replaced(dict(zip(arguments, node.args, strict=True))).visit(copy.deepcopy(body))
        return replaced


LONGEST_MOVED = 700
"""Functions of more characters, as people write them, stay where they are: a board has to read every function
in one piece.
"""


class MoveBodies(ast.NodeTransformer):
    """Puts the body of a function that is called in one place, as a statement, there: a board's heap pays
    about a hundred bytes for a function, and its stack for a call.
    """

    def __init__(self, trees: Iterable[ast.Module], keep: frozenset[str]) -> None:
        self.functions: dict[str, ast.FunctionDef] = {}
        named: list[str] = []
        statements: list[str] = []
        for node in (inner for tree in trees for inner in ast.walk(tree)):
            if isinstance(node, ast.Name):
                named.append(node.id)
            elif isinstance(node, ast.FunctionDef) and _can_move(node):
                self.functions[node.name] = node
        for tree in trees:
            for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
                for inner in ast.walk(function):
                    if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
                        call = inner.value
                        if isinstance(call.func, ast.Name) and all(map(_is_plain, call.args)):
                            statements.append(call.func.id)
        self.functions = {
            name: node
            for name, node in self.functions.items()
            if named.count(name) == statements.count(name) == 1 and name not in keep
        }

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        call = node.value
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if name not in self.functions or not isinstance(call, ast.Call):
            return node
        function = copy.deepcopy(self.functions[name])
        stored = {
            n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        own = _Replaced({word: ast.Name(f"{name}_{word}", ast.Load()) for word in stored})
        given: dict[str, ast.expr] = {}
        body: list[ast.stmt] = []
        for argument, value in zip(function.args.args, call.args, strict=True):
            if argument.arg in stored:
                body.append(ast.Assign([ast.Name(f"{name}_{argument.arg}", ast.Store())], value, lineno=0))
            else:
                given[argument.arg] = value
        for statement in function.body:
            body.append(_Replaced(given).visit(own.visit(statement)))
        moved: list[ast.stmt] = []
        for statement in body:
            changed = self.visit(statement)
            moved += changed if isinstance(changed, list) else [changed]
        return moved


def _can_move(node: ast.FunctionDef) -> bool:
    """Return whether a function is short, gives nothing back and has nothing but plain arguments."""
    inner = [n for part in node.body for n in ast.walk(part)]
    is_simple = not (node.args.defaults or node.args.vararg or node.args.kwarg or node.decorator_list)
    return (
        is_simple
        and not any(isinstance(n, ast.Return | ast.FunctionDef | ast.Lambda | ast.ListComp) for n in inner)
        and len(ast.unparse(node)) <= LONGEST_MOVED
    )


class InlineBodies(ast.NodeTransformer):
    """Puts the bodies of these functions where their values are assigned, added or returned, wherever that
    is: a board's stack has room for nine calls within each other, and longer functions where it has not.

    A function can be inlined when whatever it returns it returns at its end, or at that of a decision.
    """

    def __init__(self, trees: Iterable[ast.Module], names: frozenset[str]) -> None:
        self.functions = {
            node.name: node
            for tree in trees
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name in names
        }

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        return self._inline(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        return self._inline(node)

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        return self._inline(node)

    def _inline(self, node: ast.Assign | ast.AugAssign | ast.Return) -> ast.AST | list[ast.stmt]:
        """Return the statements that a statement with such a call as its value becomes."""
        call = node.value
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if name not in self.functions or not isinstance(call, ast.Call):
            return node

        def given(value: ast.expr) -> ast.stmt:
            statement = copy.deepcopy(node)
            statement.value = value
            return statement

        body: list[ast.stmt] = []
        for statement in _ends(_own_body(copy.deepcopy(self.functions[name]), call.args), given):
            changed = self.visit(statement)
            body += changed if isinstance(changed, list) else [changed]
        return body


def _own_body(function: ast.FunctionDef, arguments: Sequence[ast.expr]) -> list[ast.stmt]:
    """Return a function's body with names of its own, its arguments put in or assigned first."""
    inner = [n for part in function.body for n in ast.walk(part)]
    stored = {n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    body: list[ast.stmt] = []
    put: dict[str, ast.expr] = {}
    for argument, value in zip(function.args.args, arguments, strict=True):
        if argument.arg not in stored and isinstance(value, ast.Name | ast.Constant):
            put[argument.arg] = value
        else:
            stored.add(argument.arg)
            own = ast.Name(f"{function.name}_{argument.arg}", ast.Store())
            body.append(ast.Assign([own], value, lineno=0))
    put |= {word: ast.Name(f"{function.name}_{word}", ast.Load()) for word in stored}
    replaced = _Replaced(put)
    return body + [replaced.visit(statement) for statement in function.body]


def _ends(body: Sequence[ast.stmt], given: Callable[[ast.expr], ast.stmt]) -> list[ast.stmt]:
    """Return statements that go on where these returned, after what `given` makes of the value."""
    made: list[ast.stmt] = []
    for number, node in enumerate(body):
        if isinstance(node, ast.Return):
            return [*made, given(node.value or ast.Constant(None))]
        if any(isinstance(inner, ast.Return) for inner in ast.walk(node)):
            if not isinstance(node, ast.If) or not isinstance(node.body[-1], ast.Return):
                raise ValueError(f"a return that ends no decision: {ast.unparse(node)}")
            rest = _ends([*node.orelse, *body[number + 1 :]], given)
            return [*made, ast.If(node.test, _ends(node.body, given), rest)]
        made.append(node)
    raise ValueError("a function to be inlined ends without returning anything")


class _Replaced(ast.NodeTransformer):
    """Puts expressions where names stand."""

    def __init__(self, expressions: Mapping[str, ast.expr]) -> None:
        self.expressions = expressions

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.expressions:
            return node
        expression = copy.deepcopy(self.expressions[node.id])
        if isinstance(expression, ast.Name):
            expression.ctx = node.ctx
        return expression


def _is_plain(node: ast.expr) -> bool:
    """Return whether an expression may stand twice: it does nothing, and costs little."""
    if isinstance(node, ast.Attribute):
        return _is_plain(node.value)
    if isinstance(node, ast.Subscript):
        return _is_plain(node.value) and _is_plain(node.slice)
    if isinstance(node, ast.BinOp):
        return _is_plain(node.left) and isinstance(node.right, ast.Constant)
    return isinstance(node, ast.Name | ast.Constant)


def single_expressions(trees: Iterable[ast.Module]) -> dict[str, tuple[list[str], ast.expr]]:
    """Return the functions that are nothing but an expression: their arguments, and what they return."""
    found: dict[str, tuple[list[str], ast.expr]] = {}
    for tree in trees:
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or node.args.defaults or node.args.vararg:
                continue
            arguments = [argument.arg for argument in node.args.args]
            only = node.body[0]
            if len(node.body) == 1 and isinstance(only, ast.Return) and isinstance(only.value, ast.Constant):
                found[node.name] = arguments, only.value
            if len(node.body) != 2 or not isinstance(node.body[0], ast.If):
                continue
            decision, last = node.body
            if not isinstance(decision, ast.If) or decision.orelse or len(decision.body) != 1:
                continue
            if _returned(decision.body[0]) is False and _returned(last) is True:
                found[node.name] = arguments, ast.UnaryOp(ast.Not(), decision.test)
    return found


def _returned(node: ast.stmt) -> object:
    """Return the constant that a statement returns, or None."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
        return node.value.value
    return None


def _number(node: ast.expr) -> int | None:
    """Return the integer that an expression is, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None

"""The grid is computed for another block size than the kernel works with."""

import ast
import math
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.contents import JitFunction
from xeforge.source.contents import LaunchSite
from xeforge.source.facts import FileFacts
from xeforge.source.host_code import integer
from xeforge.source.host_code import local_values
from xeforge.source.kernel_code import assignments

NAME: Final = "grid_block_mismatch"

Values = Mapping[str, ast.expr | object]


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Compare the divisors of the grid with the blocks of the kernel, for every configuration.

    Fewer programs times block size than elements leave a part unwritten: certain where the block
    size is tuned, since the grid can then suit one configuration at most.
    """
    functions = facts.functions
    found: list[Issue] = []
    for launch in facts.contents.launches:
        kernel = facts.contents.jit_function(launch.kernel)
        if kernel is None or not launch.resolved_grid:
            continue
        blocks = _blocks(facts, kernel)
        values: Values = facts.contents.constants
        if launch.function in functions:
            values = local_values(functions[launch.function], facts.contents.constants)
        if blocks:
            found += _compare(launch, kernel, blocks, values)
    return tuple(found)


def _blocks(facts: FileFacts, kernel: JitFunction) -> Mapping[int, frozenset[str]]:
    """Return the blocks behind each axis of the grid; nothing when that is not certain."""
    if facts.is_persistent(kernel.name):
        return {}
    scaled = {
        name
        for name, value, _ in assignments(facts.nodes[kernel.name])
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult)
    }
    found: dict[int, set[str]] = {}
    for product in facts.products(kernel):
        inside = [each for each in ast.walk(product.factor) if isinstance(each, ast.BinOp)]
        is_scaled = any(isinstance(each.op, ast.Mult) for each in inside)
        if is_scaled or (isinstance(product.factor, ast.Name) and product.factor.id in scaled):
            return {}
        for axis in product.axes:
            found.setdefault(axis, set()).add(product.block)
    return {axis: frozenset(names) for axis, names in found.items()}


def _compare(
    launch: LaunchSite, kernel: JitFunction, blocks: Mapping[int, frozenset[str]], values: Values
) -> Iterator[Issue]:
    grid = ast.parse(launch.resolved_grid, mode="eval").body
    body = grid.body if isinstance(grid, ast.Lambda) else grid
    elements = body.elts if isinstance(body, ast.Tuple | ast.List) else [body]
    given = _launch_values(launch, kernel, values)
    configs = [each.values for each in kernel.autotune.configs] if kernel.autotune else [{}]
    for axis, element in enumerate(elements):
        divisors = list(_divisors(element))
        if not divisors or axis not in blocks:
            continue
        missing = []
        for config in configs:
            sizes = [{**given, **config}.get(name) for name in blocks[axis]]
            steps = [_divisor(each, {**given, **config}, values) for each in divisors]
            if None not in sizes and None not in steps:
                size, step = (math.prod(x or 0 for x in each) for each in (sizes, steps))
                missing += [(size, step)] if size < step else []
        if missing:
            yield _issue(launch, kernel, blocks[axis], min(missing))


def _issue(
    launch: LaunchSite, kernel: JitFunction, blocks: frozenset[str], worst: tuple[int, int]
) -> Issue:
    is_tuned = kernel.autotune is not None and bool(blocks & kernel.autotune.varied)
    size, step = worst
    return Issue(
        type=NAME,
        severity=Severity.ERROR if is_tuned else Severity.WARNING,
        message=f"{launch.kernel} is launched with one program for each {step} elements, but with "
        f"{' x '.join(sorted(blocks))} = {size} a program covers only {size}: the rest stays "
        f"unwritten",
        line=launch.line,
        remedy="compute the grid from the block size in force: "
        "lambda meta: (triton.cdiv(n, meta['BLOCK']),)",
    )


def _launch_values(launch: LaunchSite, kernel: JitFunction, values: Values) -> dict[str, int]:
    """Return the integer arguments of a launch by parameter name."""
    texts = dict(zip((each.name for each in kernel.params), launch.positional, strict=False))
    if any(each.startswith("*") for each in launch.positional):
        texts = {}
    found = {}
    for name, text in {**texts, **launch.keywords}.items():
        value = integer(ast.parse(text, mode="eval").body, values) if name != "**" else None
        if value is not None:
            found[name] = value
    return found


def _divisors(element: ast.expr) -> Iterator[ast.expr]:
    """Yield what sizes are divided by, rounding up, in a product of such quotients."""
    if isinstance(element, ast.BinOp) and isinstance(element.op, ast.Mult):
        yield from _divisors(element.left)
        yield from _divisors(element.right)
    elif isinstance(element, ast.Call):
        name = element.func.attr if isinstance(element.func, ast.Attribute) else None
        name = element.func.id if isinstance(element.func, ast.Name) else name
        if name in {"cdiv", "ceil_div"} and len(element.args) == 2:  # noqa: PLR2004
            yield element.args[1]
    elif (
        isinstance(element, ast.BinOp)
        and isinstance(element.op, ast.FloorDiv)
        and isinstance(element.left, ast.BinOp)
    ):
        yield element.right


def _divisor(node: ast.expr, sizes: Mapping[str, int], values: Values) -> int | None:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return sizes.get(str(node.slice.value))
    return integer(node, values)

"""Refuse what is no Python, or has another face than the submitted kernel."""

import ast

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.errors import BadKernel
from xeforge.source.declarations import ModelClass
from xeforge.source.declarations import Parameter
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.reading import GateContext

NAME = "syntax"


def unreadable(error: BadKernel) -> Finding:
    """Report a file that cannot be parsed."""
    return failed(NAME, Reason.RUNTIME_ERROR, error.message, line=error.line)


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Compare the class ``Model`` and its two signatures with the submitted ones."""
    model, submitted = context.candidate.contents.model, context.submitted.contents.model
    if submitted is None:
        return (_same_functions(context),)
    if model is None:
        return (failed(NAME, Reason.OUTPUT_CONTRACT, "there is no class Model"),)
    complaints = tuple(
        failed(
            NAME,
            Reason.OUTPUT_CONTRACT,
            f"{method}({_text(new)}) must stay {method}({_text(old)})",
            line=_line(model, method),
        )
        for method, new, old in (
            ("__init__", model.init_parameters, submitted.init_parameters),
            ("forward", model.forward_parameters, submitted.forward_parameters),
        )
        if _signature(new) != _signature(old)
    )
    return complaints or (passed(NAME),)


def _same_functions(context: GateContext) -> Finding:
    """Without a class the file is called through its functions: their signatures must stay."""
    now = {each.name: each for each in context.candidate.contents.functions}
    for each in context.submitted.contents.functions:
        kept = now.get(each.name)
        if kept is None:
            return failed(NAME, Reason.OUTPUT_CONTRACT, f"the function {each.name} is gone")
        if _signature(kept.parameters) != _signature(each.parameters):
            text = f"{each.name}({_text(kept.parameters)}) must stay ({_text(each.parameters)})"
            return failed(NAME, Reason.OUTPUT_CONTRACT, text, line=kept.line)
    return passed(NAME)


def _line(model: ModelClass, method: str) -> int:
    found = model.method(method)
    return found.line if found is not None else model.line


def _signature(parameters: tuple[Parameter, ...]) -> list[tuple[str, str, str | None]]:
    """Return what a caller depends on; annotations and layout are free."""
    return [(each.name, each.kind, _normal(each.default)) for each in parameters]


def _normal(default: str | None) -> str | None:
    return None if default is None else ast.dump(ast.parse(default, mode="eval"))


def _text(parameters: tuple[Parameter, ...]) -> str:
    return ", ".join(
        each.name if each.default is None else f"{each.name}={each.default}" for each in parameters
    )

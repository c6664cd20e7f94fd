"""Compares the calls a spec leads to with the signatures in the files."""

from collections.abc import Sequence

from xeforge.intake.marks import Path
from xeforge.intake.spec import Spec
from xeforge.source.contents import KernelContents
from xeforge.source.contents import Parameter


def check_calls(spec: Spec, contents: KernelContents) -> None:
    """Compare every workload with ``Model.forward`` and ``Model.__init__`` of one file.

    A constructor or ``forward`` that is inherited from outside the file is not known and passes.

    Raises:
        BadSpec: An entry passes more or fewer inputs, or more or fewer constructor arguments,
            than the class takes.
    """
    model = contents.model
    if model is None:
        return
    for workload in spec.workloads:
        path = spec.paths[workload.name]
        if workload.inputs and model.method("forward") is not None:
            names = [each.name for each in workload.inputs]
            place = ((*path, "params"), "forward", model.forward_parameters)
            _check(spec, contents.path, names, place)
        if workload.init_args is not None and model.method("__init__") is not None:
            values = [repr(each) for each in workload.init_args]
            _check(spec, contents.path, values, (("inits",), "__init__", model.init_parameters))


def check_helper_dims(spec: Spec, files: Sequence[KernelContents]) -> None:
    """Check that dimensions of entries without inputs reach a helper that takes them.

    Raises:
        BadSpec: Neither ``get_inputs`` nor ``get_init_inputs`` has a parameter of that name.
    """
    taken: set[str] = set()
    for contents in files:
        for function in contents.functions:
            if function.name in {"get_inputs", "get_init_inputs"}:
                if any(each.kind == "var_keyword" for each in function.parameters):
                    return
                taken |= {each.name for each in function.parameters}
    for workload in spec.workloads:
        unused = [name for name in workload.dims if name not in taken]
        if workload.from_file and unused:
            raise spec.document.bad(
                (*spec.paths[workload.name], "dims", unused[0]),
                f"dimension {unused[0]!r} is no parameter of get_inputs or get_init_inputs",
                remedy=f"they take: {', '.join(sorted(taken)) or 'nothing'}",
            )


def _check(
    spec: Spec, file: str, given: list[str], place: tuple[Path, str, tuple[Parameter, ...]]
) -> None:
    path, method, parameters = place
    problem = mismatch(len(given), parameters)
    if problem is None:
        return
    wanted = ", ".join(each.name for each in parameters) or "nothing"
    listed = ", ".join(given) or "none"
    raise spec.document.bad(
        path,
        f"{len(given)} given ({listed}), but Model.{method} of {file} {problem}",
        remedy=f"it takes {wanted}",
    )


def mismatch(given: int, parameters: tuple[Parameter, ...]) -> str | None:
    """Say why so many positional arguments do not fit; None when they do."""
    least = sum(each.is_required for each in parameters)
    most = sum(each.kind == "positional" for each in parameters)
    if given < least:
        return f"needs at least {least}" if most > least else f"needs {least}"
    takes_any = any(each.kind == "var_positional" for each in parameters)
    if given > most and not takes_any:
        return f"takes at most {most}" if most > least else f"takes {most}"
    return None

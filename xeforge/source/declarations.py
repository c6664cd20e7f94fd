"""What a kernel file declares, as data: jit functions, launches, the model class."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Literal
from typing import TypeAlias
from typing import Union

Constant: TypeAlias = Union[bool, int, float, str, tuple["Constant", ...], None]
"""A value that can be read off the source without running it; lists become tuples."""

ParameterKind = Literal["positional", "keyword_only", "var_positional", "var_keyword"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function.

    Attributes:
        name: As written.
        is_constexpr: Annotated as a compile-time constant.
        default: Source text of the default; None: it has none.
        kind: How an argument reaches it; ``*args`` and ``**kwargs`` are ``var_*``.
    """

    name: str
    is_constexpr: bool
    default: str | None
    kind: ParameterKind = "positional"

    @property
    def is_required(self) -> bool:
        """Whether a call must supply it by position."""
        return self.default is None and self.kind == "positional"


@dataclass(frozen=True, slots=True)
class AutotuneConfig:
    """One ``triton.Config``.

    Attributes:
        values: Integer (and boolean) meta-parameters, e.g. ``{"BLOCK_M": 128}``.
        num_warps, num_stages: Launch settings; None: Triton's default.
        line: Where the ``Config`` call stands.
        options: Everything else that is literal: text values such as ``grf_mode`` and keywords
            such as ``num_ctas`` and ``maxnreg``.
    """

    values: Mapping[str, int]
    num_warps: int | None
    num_stages: int | None
    line: int
    options: Mapping[str, Constant] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Autotune:
    """One ``triton.autotune`` decorator.

    Attributes:
        configs: All configurations in order; empty when `is_dynamic`.
        key: Names of the arguments whose change re-tunes.
        line: Where the decorator stands.
        is_dynamic: The configurations are computed in a way that cannot be read off the source.
        keywords: Source text of the remaining arguments, e.g. ``reset_to_zero``.
    """

    configs: tuple[AutotuneConfig, ...]
    key: tuple[str, ...]
    line: int
    is_dynamic: bool = False
    keywords: Mapping[str, str] = field(default_factory=dict)

    @property
    def varied(self) -> frozenset[str]:
        """Meta-parameters that take more than one value over the configurations."""
        names = {name for config in self.configs for name in config.values}
        return frozenset(
            name for name in names if len({each.values.get(name) for each in self.configs}) > 1
        )


@dataclass(frozen=True, slots=True)
class JitFunction:
    """One function compiled by Triton.

    Attributes:
        name: Name that launches and calls use.
        line: Line of ``def``.
        end_line: Last line of the body.
        params: In order.
        autotune: Its autotune decorator, if any.
        heuristics: Source text of the function behind each computed meta-parameter.
        has_dot: Uses the matrix units, itself or in a jit function it calls.
        first_line: Line of the topmost decorator.
        calls: Jit functions of the file that it calls, directly, sorted.
    """

    name: str
    line: int
    end_line: int
    params: tuple[Parameter, ...]
    autotune: Autotune | None
    heuristics: Mapping[str, str]
    has_dot: bool
    first_line: int = 0
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """One place where a kernel is launched: ``kernel[grid](...)``.

    Attributes:
        kernel: Name of the jit function.
        line: First line of the call.
        function: Qualified name of the enclosing function; ``"<module>"`` outside of any.
        grid: Source text of the grid as written in the brackets.
        positional: Source text of the positional arguments; a starred one keeps its star.
        keywords: Source text of the keyword arguments; ``**rest`` has the key ``"**"``.
        resolved_grid: What a plain name in the brackets stands for; equals `grid` when the grid
            is written in place, and is empty when the name has several or no visible meanings.
        end_line: Last line of the call.
    """

    kernel: str
    line: int
    function: str
    grid: str
    positional: tuple[str, ...]
    keywords: Mapping[str, str]
    resolved_grid: str = ""
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class ModuleFunction:
    """One plain function of the module or method of a class.

    Attributes:
        name: As written, without the class.
        line: Line of ``def``.
        end_line: Last line of the body.
        parameters: In order, without ``self``.
    """

    name: str
    line: int
    end_line: int
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class ModelClass:
    """The class that is constructed and called.

    Attributes:
        name: Name of the class statement (``Model``, unless ``Model`` is an alias).
        line: Line of ``class``.
        end_line: Last line of the body.
        init_parameters: Of ``__init__``, without ``self``.
        forward_parameters: Of ``forward``, without ``self``.
        methods: Own methods and those inherited from classes of the same file.
        is_module: Derives from a ``torch.nn`` class as far as the file shows.
        bases: Source text of the base classes.
    """

    name: str
    line: int
    end_line: int
    init_parameters: tuple[Parameter, ...]
    forward_parameters: tuple[Parameter, ...]
    methods: tuple[ModuleFunction, ...]
    is_module: bool
    bases: tuple[str, ...]

    def method(self, name: str) -> ModuleFunction | None:
        """Return the method with this name, or nothing."""
        return next((each for each in self.methods if each.name == name), None)


@dataclass(frozen=True, slots=True)
class KernelContents:
    """Everything that can be said about a file without running it.

    Attributes:
        path: As the user named the file.
        jit_functions: In order of appearance.
        launches: In order of appearance.
        model: The class ``Model``, if there is one.
        functions: Functions of the module level that are not jit functions.
        constants: Literal constants of the module level.
        has_get_inputs, has_get_init_inputs: Whether the KernelBench functions are there.
        classes: Names of all classes of the module level.
    """

    path: str
    jit_functions: tuple[JitFunction, ...]
    launches: tuple[LaunchSite, ...]
    model: ModelClass | None
    functions: tuple[ModuleFunction, ...]
    constants: Mapping[str, Constant]
    has_get_inputs: bool
    has_get_init_inputs: bool
    classes: tuple[str, ...] = ()

    def jit_function(self, name: str) -> JitFunction | None:
        """Return the jit function with this name, or nothing."""
        return next((each for each in self.jit_functions if each.name == name), None)

    @property
    def entry_kernels(self) -> tuple[JitFunction, ...]:
        """Jit functions that are launched, in order; helpers of other jit functions left out."""
        launched = {each.kernel for each in self.launches}
        return tuple(each for each in self.jit_functions if each.name in launched)

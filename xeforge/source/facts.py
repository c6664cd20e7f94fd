"""Everything that detectors ask about one kernel file, read once and shared."""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from functools import cached_property

from xeforge.domain.evidence import BuildEvidence
from xeforge.source.addresses import address_of
from xeforge.source.addresses import lanes_of
from xeforge.source.addresses import made_by
from xeforge.source.addresses import pointer_of
from xeforge.source.contents import parse
from xeforge.source.contents import read_contents
from xeforge.source.declarations import JitFunction
from xeforge.source.declarations import KernelContents
from xeforge.source.host_code import HostFunction
from xeforge.source.host_code import host_functions
from xeforge.source.host_flow import HostLaunch
from xeforge.source.host_flow import HostScope
from xeforge.source.host_flow import input_names
from xeforge.source.host_flow import read_scope
from xeforge.source.imports import read_imports
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_body import read_body
from xeforge.source.kernel_code import BlockProduct
from xeforge.source.kernel_code import block_products
from xeforge.source.kernel_code import kernel_nodes
from xeforge.source.kernel_code import program_axes
from xeforge.source.kernel_code import strides_over_programs
from xeforge.source.scopes import FunctionNode
from xeforge.source.scopes import functions_in
from xeforge.source.settings import Setting
from xeforge.source.settings import arguments_of
from xeforge.source.settings import settings_of
from xeforge.source.weights import weight_attributes

REDUCING = frozenset(
    {"sum", "max", "min", "argmax", "argmin", "reduce", "cumsum", "associative_scan", "xor_sum"}
)


class FileFacts:
    """What one file says; everything beyond its declarations is found out when first asked for.

    Attributes:
        contents: What the file declares.
        tree: Its syntax tree.
        reference: What the reference declares, if there is one.
        build: What the compiler said of it; None: not asked yet.
        vendor: Maker of the device it is for; empty: not known.
    """

    def __init__(
        self,
        contents: KernelContents,
        tree: ast.Module,
        *,
        reference: KernelContents | None = None,
        build: BuildEvidence | None = None,
        vendor: str = "",
    ) -> None:
        self.contents = contents
        self.tree = tree
        self.reference = reference
        self.build = build
        self.vendor = vendor
        self.imports = read_imports(tree)
        self._touched: dict[tuple[str, ...], frozenset[str]] = {}
        self._persistent: dict[str, bool] = {}
        self._axes: dict[str, Mapping[str, frozenset[int]]] = {}

    @cached_property
    def nodes(self) -> Mapping[str, FunctionNode]:
        """Syntax tree of every jit function."""
        return kernel_nodes(self.tree, self.contents)

    @cached_property
    def functions(self) -> Mapping[str, FunctionNode]:
        """Every function by qualified name."""
        return dict(functions_in(self.tree))

    @cached_property
    def bodies(self) -> Mapping[str, KernelBody]:
        """Body of every jit function, in the order of the file."""
        return {name: read_body(node, self.imports) for name, node in self.nodes.items()}

    @cached_property
    def settings(self) -> Mapping[str, tuple[Setting, ...]]:
        """With what every launched kernel is run."""
        return {
            each.name: settings_of(each, self.contents, self.functions)
            for each in self.contents.entry_kernels
        }

    @cached_property
    def hosts(self) -> tuple[HostFunction, ...]:
        """``Model.forward`` and what it calls; without a model, the functions of the module."""
        found = host_functions(self.tree, self.contents)
        if found or self.contents.model is not None:
            return found
        names = {each.name for each in self.contents.functions}
        return tuple(HostFunction(n, node) for n, node in self.functions.items() if n in names)

    @cached_property
    def launches(self) -> tuple[HostLaunch, ...]:
        """All launches with their arguments, in order."""
        found = []
        for site in self.contents.launches:
            kernel = self.contents.jit_function(site.kernel)
            if kernel is not None:
                found.append(HostLaunch(site, kernel, arguments_of(site, kernel)))
        return tuple(found)

    @cached_property
    def scopes(self) -> tuple[HostScope, ...]:
        """Host functions with what they bind and launch."""
        return tuple(
            read_scope(each, self.launches, is_entry=each.name.endswith(".forward"))
            for each in self.hosts
        )

    @cached_property
    def inputs(self) -> Mapping[str, frozenset[str]]:
        """Names that hold inputs of ``forward``, for each host function."""
        if self.contents.model is None:
            # Whoever calls these functions passes tensors.
            return {e.function.name: frozenset(e.function.parameters) for e in self.scopes}
        return input_names(self.scopes)

    @cached_property
    def weights(self) -> frozenset[str]:
        """Attributes of the model that hold weights."""
        model = None if self.contents.model is None else self.contents.model.name
        constructor = self.functions.get(f"{model}.__init__")
        return frozenset() if constructor is None else weight_attributes(constructor, self.imports)

    def axes(self, kernel: str) -> Mapping[str, frozenset[int]]:
        """Return the axes of the program number behind each local name of a kernel."""
        if kernel not in self._axes:
            self._axes[kernel] = program_axes(self.nodes[kernel], self.imports)
        return self._axes[kernel]

    def products(self, kernel: JitFunction) -> tuple[BlockProduct, ...]:
        """Return the products of program numbers with compile-time sizes in a kernel."""
        fixed = frozenset(each.name for each in kernel.params if each.is_constexpr)
        return block_products(self.nodes[kernel.name], fixed, self.imports, self.axes(kernel.name))

    def is_persistent(self, kernel: str) -> bool:
        """Say whether a program of a kernel may work on more than one tile."""
        if kernel not in self._persistent:
            found = strides_over_programs(self.nodes[kernel], self.imports, self.axes(kernel))
            self._persistent[kernel] = found
        return self._persistent[kernel]

    def touched(self, kernel: str, *names: str) -> frozenset[str]:
        """Return the parameters through which a kernel, or what it calls, does such accesses.

        Args:
            kernel: A jit function.
            names: ``"load"``, ``"store"`` or ``"atomic"``.
        """
        key = (kernel, *names)
        if key not in self._touched:
            self._touched[key] = frozenset()  # ends a circle of functions that call each other
            self._touched[key] = frozenset(self._accessed(kernel, names))
        return self._touched[key]

    def _accessed(self, kernel: str, names: tuple[str, ...]) -> Iterator[str]:
        body = self.bodies[kernel]
        helpers = {each.name for each in self.contents.jit_functions}
        for call in body.calls:
            is_atomic = call.name.startswith("atomic_") and "atomic" in names
            pointer = pointer_of(body, call.first, call.place.index)
            if pointer is not None and (call.name in names or is_atomic):
                yield pointer
        for node, place in body.plain_calls:
            if isinstance(node.func, ast.Name) and node.func.id in helpers & self.bodies.keys():
                yield from self._accessed_by(body, node, place.index, names)

    def _accessed_by(
        self, body: KernelBody, call: ast.Call, index: int, names: tuple[str, ...]
    ) -> Iterator[str]:
        assert isinstance(call.func, ast.Name)  # noqa: S101 - the caller has looked
        helper = self.contents.jit_function(call.func.id)
        assert helper is not None  # noqa: S101 - the same
        given = dict(zip((each.name for each in helper.params), call.args, strict=False))
        given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
        for name in self.touched(helper.name, *names):
            pointer = pointer_of(body, given.get(name), index)
            if pointer is not None:
                yield pointer

    def kind(self, kernel: JitFunction) -> str:
        """Say what a kernel does: ``"product"``, ``"reduction"`` or ``"elementwise"``."""
        if kernel.has_dot:
            return "product"
        seen: set[str] = set()
        waiting = [kernel.name]
        while waiting:
            name = waiting.pop()
            each = self.contents.jit_function(name)
            if name in seen or each is None:
                continue
            seen.add(name)
            waiting += each.calls
            body = self.bodies[name]
            is_loop_carried = any(
                b.is_step and b.place.loops and pointer_of(body, b.value, b.place.index) is None
                for b in body.bindings
            )
            names = {call.name for call in body.calls}
            if is_loop_carried or names & REDUCING or any(n.startswith("atomic_") for n in names):
                return "reduction"
        return "elementwise"

    def tile_elements(self, kernel: str, values: Mapping[str, int]) -> int | None:
        """Return the most elements of one loaded or stored tile; None when not certain."""
        body = self.bodies[kernel]
        most = None
        for call in body.named("load", "store"):
            if made_by(body, call.first, call.place.index) is not None:
                return None
            extents: dict[int | None, int | None] = {}
            for lane in lanes_of(body, address_of(call), call.place.index):
                text = lane.extent
                extents[lane.axis] = int(text) if text.isdigit() else values.get(text)
            if None in extents.values():
                return None
            product = 1
            for each in extents.values():
                product *= each or 1
            if extents:
                most = max(most or 0, product)
        return most


def read_facts(
    text: str,
    path: str,
    *,
    reference: KernelContents | None = None,
    build: BuildEvidence | None = None,
    vendor: str = "",
) -> FileFacts:
    """Read a kernel file.

    Raises:
        BadKernel: It cannot be read as Python, or has no jit function.
    """
    tree = parse(text, path)
    contents = read_contents(text, path, tree=tree)
    return FileFacts(contents, tree, reference=reference, build=build, vendor=vendor)

"""What a kernel file may not import or name unless the submitted one does, as data."""

ALLOWED_IMPORTS = frozenset(
    {"__future__", "torch", "triton", "math", "typing", "functools", "itertools", "dataclasses"}
)
"""Top-level packages a kernel file may import; what the submission imports is allowed, too."""

REFUSED_MODULES = (
    "torch.utils",
    "torch.multiprocessing",
    "torch.distributed",
    "torch.hub",
    "torch.package",
    "torch.profiler",
    "torch.overrides",
    "torch._C",
    "torch._dynamo",
    "torch._inductor",
    "torch.serialization",
    "torch.storage",
    "torch.fx",
    "torch.export",
    "torch.onnx",
    "torch.testing",
    "torch.ao",
    "torch.classes",
    "torch.library",
    "torch.futures",
    "torch.monitor",
    "torch.masked",
    "torch.nn.utils",
    "torch.autograd.profiler",
    "torch.cuda.graphs",
    "torch.cuda.streams",
    "torch.cuda.jiterator",
    "torch.cuda.comm",
    "torch.cuda.nccl",
    "torch.cuda.gds",
    "torch.jit.frontend",
    "torch.jit.annotations",
    "triton.testing",
    "triton.profiler",
    "triton.knobs",
    "triton.backends",
    "triton.compiler",
    "triton.compile",
    "triton.tools.compile",
    "triton.tools.disasm",
    "triton.tools.link",
    "triton.experimental",
    "triton.runtime.build",
    "triton.runtime.cache",
    "triton.runtime.interpreter",
)
"""Parts of allowed packages that build native code, start processes, run code from texts (files,
annotations, graphs), tell who is calling or hold the clock."""

REFUSED_IMPORTS = (*REFUSED_MODULES, "triton.runtime.driver")
"""The driver may be asked for the number of compute units by its full name, but no more."""

REFUSED_BUILTINS = frozenset(
    {"exec", "eval", "compile", "__import__", "open", "globals", "breakpoint", "__builtins__"}
)
"""By whatever name they are called later; a method (``model.eval()``) is something else."""

REACHED_MODULES = frozenset(
    (
        "builtins",
        "ctypes",
        "gc",
        "importlib",
        "inspect",
        "os",
        "signal",
        "socket",
        "subprocess",
        "sys",
        "threading",
    )
)
"""Most libraries hold these as attributes: ``typing.sys`` is ``sys``."""

REFUSED_NAMES = (
    "sys._getframe",
    "sys.modules",
    "sys.settrace",
    "sys.setprofile",
    "os.environ",
    "os.system",
    "os.popen",
    "os.fork",
    "os.kill",
    "typing.get_type_hints",
    "typing.ForwardRef",
    "functools.singledispatch",
    "functools.singledispatchmethod",
    "dataclasses.make_dataclass",
    "torch.jit.load",
    "torch.jit.CompilationUnit",
    "torch.cuda.cudart",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.random.manual_seed",
    "torch.set_rng_state",
    "torch.cuda.set_rng_state",
    "triton.runtime.driver.set_active",
    "triton.runtime.driver.active.get_benchmarker",
    "triton.runtime.jit.JITFunction",
    "triton.JITFunction",
    "torch.cuda.Stream",
    "torch.cuda.ExternalStream",
    "torch.cuda.stream",
    "torch.cuda.set_stream",
    "torch.cuda.CUDAGraph",
    "torch.cuda.graph",
    "torch.cuda.make_graphed_callables",
    "torch.xpu.Stream",
    "torch.xpu.stream",
    "torch.xpu.set_stream",
    "torch.xpu.XPUGraph",
    "torch.Stream",
    "torch.load",
    "torch.save",
    "torch.from_file",
    "torch.ops.load_library",
    "torch.classes.load_library",
    "torch.manual_seed",
    "torch.set_default_dtype",
    "torch.set_default_device",
    "torch.set_float32_matmul_precision",
    "torch.use_deterministic_algorithms",
    "torch.set_num_threads",
)
"""Attributes whose use is new compared with the submission. Typing evaluates texts as code."""

FRAME_ATTRIBUTES = frozenset(
    {
        "gi_code",
        "gi_yieldfrom",
        "cr_code",
        "cr_await",
        "ag_code",
        "ag_await",
        "gi_frame",
        "cr_frame",
        "ag_frame",
        "tb_frame",
        "tb_next",
        "f_back",
        "f_code",
        "f_globals",
        "f_locals",
        "f_builtins",
    }
)
"""Ways from a generator or an exception to whoever is calling."""

REFUSED_METHODS = frozenset(
    {
        "__torch_function__",
        "__torch_dispatch__",
        "__tensor_flatten__",
        "__array__",
        "__reduce__",
        "__reduce_ex__",
        "__getattribute__",
        "__del__",
    }
)
"""Methods that run when somebody looks at a value, or throws it away, and not when called."""

PLAIN_DUNDERS = frozenset(
    {
        "__init__",
        "__call__",
        "__name__",
        "__qualname__",
        "__class__",
        "__doc__",
        "__version__",
        "__post_init__",
        "__enter__",
        "__exit__",
        "__len__",
        "__getitem__",
        "__setitem__",
        "__repr__",
    }
)
"""Double-underscore names that reach nowhere."""

PLAIN_NAMES = frozenset(
    ("__all__", "__author__", "__file__", "__slots__", "__constants__", "__str__", "__hash__")
)
"""Double-underscore names that stand alone and reach nowhere, beside `PLAIN_DUNDERS`."""

LOOKING_UP = frozenset({"getattr", "setattr", "delattr", "vars", "locals"})
"""Builtins that turn a text into a member: called at once only, so that the text can be read."""

REACHED_ANYWHERE = REACHED_MODULES | frozenset(
    ("_thread", "cpp_extension", "np", "operator", "pickle", "torch", "triton")
)
"""Modules that other modules hold, and that nothing honest has as a member."""

INNARDS = frozenset(
    (
        "fn",
        "base_fn",
        "raw_src",
        "_unsafe_update_src",
        "create_binder",
        "device_caches",
        "add_pre_run_hook",
        "source_to_code",
        "load_binary",
        "load_library",
        "load_inline",
        "from_file",
        "mro",
        "CUDAGraph",
        "XPUGraph",
        "CUDAPluggableAllocator",
        "ExternalStream",
        "StreamContext",
        "make_graphed_callables",
        "set_stream",
        "singledispatch",
        "infer_schema",
        "custom_op",
        "attrgetter",
        "FunctionType",
        "CodeType",
        "Stream",
        "cudart",
        "obj",
    )
)
"""Members, of whatever object, that lead from a kernel to its Python function, from a text to code,
from a path to native code, from an exception to a module (``obj``), or to another stream or a
recorded graph."""

SHARED_WORDS = frozenset(
    (
        *("math", "typing", "functools", "itertools", "dataclasses"),
        *("select", "trace", "random", "types", "signal", "copy", "code", "test"),
    )
)
"""Names of the standard library that torch and Triton use for members of their own, or that may be
imported anyway."""

MODULE_WORDS = frozenset(
    (
        *("nn", "functional", "ops", "linalg", "special", "fft", "backends", "autograd", "init"),
        *("compiler", "amp", "modules", "mtia"),
        *("random", "func", "sparse", "nested", "language", "runtime", "driver", "active", "tools"),
        *("extra", "distributions", "optim", "quantization", "hub", "version"),
    )
)
"""Last words of dotted names that stand for modules of torch and Triton. Those of devices are left
out: code that chooses one of ``torch.xpu`` and ``torch.cuda`` is usual."""

OPEN_PRIVATES = (
    "torch._assert",
    "torch._check",
    "torch._scaled_mm",
    "torch._int_mm",
    "triton.language.",
)
"""Private members that are written in honest code; what computes is counted elsewhere."""

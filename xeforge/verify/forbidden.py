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
    "triton.testing",
    "triton.profiler",
    "triton.knobs",
    "triton.backends",
    "triton.compiler",
    "triton.runtime.build",
    "triton.runtime.cache",
    "triton.runtime.interpreter",
)
"""Parts of allowed packages that build native code, start processes, tell who is calling or hold
the clock."""

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

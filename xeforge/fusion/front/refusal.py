"""Why a module is not compiled: closed reasons, each with the place and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """What kind of obstacle it is."""

    DATA_DEPENDENT = "data_dependent"
    """Which operators run, or how large a result is, depends on values."""
    NOT_EXPORTABLE = "not_exportable"
    """`torch.export` cannot follow the code for another reason."""
    NOT_COVERED = "not_covered"
    """The operator is none of those in `xeforge.fusion.front.covered`."""
    DTYPE = "dtype"
    """An integer, complex or other tensor that is not computed with here."""
    UPDATED_IN_PLACE = "updated_in_place"
    """An input, a parameter or a buffer is changed, or memory that is read under another name."""
    ALIASED_INPUTS = "aliased_inputs"
    """Two inputs share memory."""
    EMPTY_TENSOR = "empty_tensor"
    """A size is zero."""
    TOO_LARGE = "too_large"
    """More elements than a 32-bit offset reaches."""
    RANDOM = "random"
    """The result is drawn anew at every call."""
    HIDDEN_CONSTANT = "hidden_constant"
    """A tensor that is neither argument, parameter nor buffer, and no scalar literal either."""
    ARGUMENT = "argument"
    """An argument of ``forward`` is no tensor, or what it returns is none."""


REMEDIES: Mapping[Reason, str] = {
    Reason.DATA_DEPENDENT: "replace the branch on values by torch.where, or move it out of forward",
    Reason.NOT_EXPORTABLE: "make torch.export(model, inputs, strict=False) work on the file",
    Reason.NOT_COVERED: "write it with covered operators, or leave it to the other proposers",
    Reason.DTYPE: "compute in float16, bfloat16, float32 or float64",
    Reason.UPDATED_IN_PLACE: "return a new tensor instead of writing into one",
    Reason.ALIASED_INPUTS: "give each argument a tensor of its own",
    Reason.EMPTY_TENSOR: "give every dimension a size of at least one",
    Reason.TOO_LARGE: "use shapes with at most 2**31 elements a tensor",
    Reason.RANDOM: "take the random operator out; dropout is idle in eval mode (--mode eval)",
    Reason.HIDDEN_CONSTANT: "register the tensor with register_buffer or as a Parameter",
    Reason.ARGUMENT: "take and return tensors only; give numbers to the constructor",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """One obstacle.

    Attributes:
        reason: Its kind.
        message: What exactly, one sentence.
        operator: ATen name; empty where no operator is to blame.
        line: One-based line of the user's file; None where not known.
    """

    reason: Reason
    message: str
    operator: str = ""
    line: int | None = None

    @property
    def remedy(self) -> str:
        """What the user can do about it."""
        return REMEDIES[self.reason]


@dataclass(frozen=True, slots=True)
class Refused:
    """A module that is not compiled.

    Attributes:
        refusals: All obstacles found, at least one, in the order of the code.
    """

    refusals: tuple[Refusal, ...]

"""What a pack file and the list of example pairs look like."""

from typing import Annotated
from typing import Literal

from pydantic import BeforeValidator
from pydantic import Field

from knowledge.model import Entry
from knowledge.model import FormatName
from knowledge.model import Strength
from knowledge.model import Text
from knowledge.model import as_number

_LIST = Field(strict=False)  # YAML has lists only; what is in them stays strict

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
EntryId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$")]
Slugs = Annotated[tuple[Slug, ...], _LIST]
SomeSlugs = Annotated[tuple[Slug, ...], Field(strict=False, min_length=1)]
EntryIds = Annotated[tuple[EntryId, ...], _LIST]
Sentence = Annotated[str, Field(min_length=10, max_length=400)]
"""Advice is short: a prompt holds many; the limit is checked, nothing is cut off."""
Trial = bool | int | float | str
Trials = dict[str, Trial | Annotated[tuple[Trial, ...], _LIST]]

Scope = Literal[
    "launch",
    "kernel",
    "dot",
    "descriptor",
    "block_pointer",
    "load",
    "store",
    "atomic",
    "arange",
    "program_id",
]
Direction = Literal["up", "down", "on", "off"]
OPPOSITE = {"up": "down", "down": "up", "on": "off", "off": "on"}
Knob = Literal[
    "autotune",
    "block_pointers",
    "block_k",
    "cache_hints",
    "descriptors",
    "fusion",
    "group_m",
    "masks",
    "num_ctas",
    "num_stages",
    "num_warps",
    "packing",
    "persistent",
    "precision",
    "recompute",
    "registers",
    "rows_per_program",
    "split_k",
    "tile",
]
"""What recipes turn; two that turn one knob in opposite directions must know of each other."""


class SourceEntry(Entry):
    """Where something is said or was measured."""

    title: Text
    url: Annotated[str, Field(pattern=r"^https?://\S+$")] | None = None


class ConstraintEntry(Entry):
    """A rule, with facts for which it must hold and facts for which it must not."""

    id: EntryId
    scope: Scope
    when: str = ""
    require: Text
    refuses: bool = True
    gate: Literal["constraints", "hardware"] = "constraints"
    says: Sentence
    remedy: Sentence
    strength: Strength
    evidence: SomeSlugs
    holds: Trials
    breaks: Trials


class EffectEntry(Entry):
    """What following a recipe is worth, and how that is known."""

    expect: Sentence
    strength: Literal["measured", "published", "expected"]
    ratio: Annotated[float, Field(gt=0, le=1000)] | None = None
    device: Slug | Annotated[str, Field(pattern=r"^[a-z0-9-]+$")] | None = None
    source: Slug | None = None


class RecipeEntry(Entry):
    """One piece of advice."""

    id: EntryId
    stage: Slug
    cures: SomeSlugs
    when: str = ""
    says: Sentence
    hurts: Sentence
    example: Slug
    effect: EffectEntry
    strength: Strength
    evidence: SomeSlugs
    needs_triton: Annotated[str, Field(pattern=r"^\d+\.\d+$")] | None = None
    undoes: EntryIds = ()
    after: EntryIds = ()
    turns: dict[Knob, Direction] = Field(default_factory=dict)


class PackEntry(Entry):
    """A whole pack file."""

    pack: Slug
    about: Sentence
    needs: Slugs = ()
    when: str = ""
    sources: dict[Slug, SourceEntry]
    constraints: Annotated[tuple[ConstraintEntry, ...], _LIST] = ()
    recipes: Annotated[tuple[RecipeEntry, ...], _LIST] = ()


Tolerance = Annotated[float, BeforeValidator(as_number), Field(ge=0, le=0.1)]


class InputEntry(Entry):
    """One tensor of an example; extents are names of sizes."""

    shape: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    dtype: FormatName = "float32"
    fill: Literal["normal", "positive"] = "normal"


class PairEntry(Entry):
    """Two kernels that do the same."""

    about: Sentence
    inputs: dict[Slug, InputEntry]
    small: dict[str, Annotated[int, Field(ge=1, le=4096)]]
    large: dict[str, Annotated[int, Field(ge=1, le=2**26)]]
    rtol: Tolerance = 1e-4
    atol: Tolerance = 1e-5


class PairsEntry(Entry):
    """The list of all example pairs."""

    pairs: dict[Slug, PairEntry]

"""What packs hold once they are read and found sound: frozen values, no files."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from xeforge.domain.device import Constraint
from xeforge.verify.gates.facts import kinds_of
from xeforge.verify.gates.predicate import Predicate
from xeforge.verify.gates.predicate import Value
from xeforge.verify.gates.predicate import read_predicate

RECIPE_SCOPE = "launch"
"""Recipes may ask for everything that is known of a kernel and one way to launch it."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What following a recipe is worth.

    Attributes:
        expect: In words.
        strength: ``"measured"`` by us, ``"published"`` by others, or only ``"expected"``.
        ratio: Time before over time after; None: nobody measured it.
        device: Device model of the measurement; empty without one.
        source: Where the number stands; empty without one.
    """

    expect: str
    strength: str
    ratio: float | None
    device: str
    source: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """One piece of advice.

    Attributes:
        id: ``<pack>.<slug>``; appears in prompts, trials and statistics.
        stage: Stage that it belongs to.
        cures: Issue types it removes.
        when: Where it applies, its pack's condition included.
        says: The advice.
        hurts: When not to follow it.
        example: Name of the pair of kernels that shows it.
        effect: What it is worth.
        strength: How we know the advice to be right; ``claimed`` is shown last and labelled.
        evidence: Where it was read or measured.
        needs_triton: Oldest version it works with; empty: all that are supported.
        undoes: Recipes it takes back.
        after: Recipes that come first where both apply.
        turns: Knob to direction.
        file, line: Where it stands.
    """

    id: str
    stage: str
    cures: frozenset[str]
    when: str
    says: str
    hurts: str
    example: str
    effect: Effect
    strength: str
    evidence: tuple[str, ...]
    needs_triton: str
    undoes: frozenset[str]
    after: tuple[str, ...]
    turns: Mapping[str, str]
    file: str
    line: int

    @property
    def predicate(self) -> Predicate:
        """Where it applies, ready to be asked."""
        return read_predicate(self.when, kinds_of(RECIPE_SCOPE))


@dataclass(frozen=True, slots=True)
class Ruling:
    """A constraint with where it stands and where it is said to hold and to fail.

    Attributes:
        rule: The constraint; its `when` includes the pack's condition.
        holds, breaks: Facts of a launch or call that keeps it, and of one that does not.
        file, line: Where it stands.
    """

    rule: Constraint
    holds: Mapping[str, Value]
    breaks: Mapping[str, Value]
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Tensor:
    """One input of an example.

    Attributes:
        name: Parameter of ``run``.
        shape: Extents, as names of sizes.
        dtype: Torch name.
        fill: How values are drawn.
    """

    name: str
    shape: tuple[str, ...]
    dtype: str
    fill: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two kernels that do the same, before and after advice was followed.

    Attributes:
        name: File name without ``.before.py`` and ``.after.py``.
        about: What changes.
        inputs: Arguments of ``run``, in order.
        small: Sizes for the interpreter; large: Sizes at which a card is worth timing.
        rtol, atol: How equal the results must be.
        before, after: Files.
        line: Where the pair is declared; file: In which file.
    """

    name: str
    about: str
    inputs: tuple[Tensor, ...]
    small: Mapping[str, int]
    large: Mapping[str, int]
    rtol: float
    atol: float
    before: Path
    after: Path
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Pack:
    """One pack.

    Attributes:
        name: File name.
        about: What it covers.
        needs: Packs that must be there too.
        rulings: Its constraints.
        recipes: Its recipes.
        file: Where it stands.
    """

    name: str
    about: str
    needs: tuple[str, ...]
    rulings: tuple[Ruling, ...]
    recipes: tuple[Recipe, ...]
    file: str


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """Everything that was read, whole and sound.

    Attributes:
        packs: By name.
        pairs: By name.
    """

    packs: Mapping[str, Pack]
    pairs: Mapping[str, Pair] = field(default_factory=dict)

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """All recipes, in the order of packs and files."""
        return tuple(each for pack in self.packs.values() for each in pack.recipes)

    @property
    def ids(self) -> frozenset[str]:
        """Ids of all recipes."""
        return frozenset(each.id for each in self.recipes)

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """All constraints, in the order of packs and files."""
        return tuple(each for pack in self.packs.values() for each in pack.rulings)

    def recipe(self, name: str) -> Recipe | None:
        """Return the recipe with this id, or nothing."""
        return next((each for each in self.recipes if each.id == name), None)

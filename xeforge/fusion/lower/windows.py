"""Where a sliding window reads: positions and paddings of pools and convolutions."""

from dataclasses import dataclass

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Condition
from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import below
from xeforge.fusion.affine import equal
from xeforge.fusion.lower.value import At


@dataclass(frozen=True, slots=True)
class Window:
    """A window over the spatial dimensions.

    Attributes:
        sizes: Of the dimensions it slides over.
        kernel: Elements of the window in each.
        stride: Steps of the window.
        padding: Elements before the first.
        dilation: Distance of two elements of the window.
    """

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def read(self, out: At, tap: At) -> tuple[At, tuple[Condition, ...]]:
        """Return the position that a tap reads, and the conditions under which it exists."""
        at = tuple(
            place * self.stride[dim] + each * self.dilation[dim] - self.padding[dim]
            for dim, (place, each) in enumerate(zip(out, tap, strict=True))
        )
        return at, self._inside(at)

    def gather(self, out: At, tap: At) -> tuple[At, tuple[Condition, ...]]:
        """Return the position whose product with a tap lands here, for transposed convolution.

        One tap in `stride` does: the others are left out by a condition on the remainder.
        """
        positions: list[Affine] = []
        conditions: list[Condition] = []
        for dim, (place, each) in enumerate(zip(out, tap, strict=True)):
            reach = place - each * self.dilation[dim] + self.padding[dim]
            positions.append(reach // self.stride[dim])
            if self.stride[dim] > 1:
                conditions.append(equal(reach % self.stride[dim], 0))
        at = tuple(positions)
        return at, (*conditions, *self._inside(at))

    def _inside(self, at: At) -> tuple[Condition, ...]:
        return tuple(
            condition
            for place, size in zip(at, self.sizes, strict=True)
            for condition in (at_least(place, 0), below(place, size))
        )

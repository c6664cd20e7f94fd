from tests.xeforge.source.test_knobs import HEADER
from tests.xeforge.source.test_knobs import MATMUL
from tests.xeforge.source.test_knobs import SCALE
from tests.xeforge.source.test_knobs import by_name
from tests.xeforge.source.test_knobs import multiplied
from tests.xeforge.source.test_knobs import scaled
from xeforge.source.knob_roles import Role
from xeforge.source.knobs import find_knobs
from xeforge.source.knobs import set_knobs

AUTOTUNED = MATMUL.replace(
    "@triton.jit",
    """@triton.autotune(
    configs=[
        triton.Config({"TM": 64, "TN": 64, "TK": 32, "G": 8, "EXTRA": 7}, num_warps=4),
        triton.Config({"TM": 128, "TN": 64, "TK": 32, "EXTRA": 7}, num_stages=4, num_warps=8),
    ],
    key=["M", "N", "K"],
)
@triton.jit""",
)


class TestAutotune:
    def source(self, kernel=AUTOTUNED):
        return multiplied(
            """
            grid = lambda META: (triton.cdiv(M, META["TM"]) * triton.cdiv(N, META["TN"]),)
            product[grid](ARGS)
            """
        ).replace(MATMUL, kernel)

    def test_reads_the_list(self):
        knobs = by_name(self.source())
        assert knobs["TM"].choices == (64, 128)
        assert knobs["TM"].kind == "config"
        assert knobs["TM"].role is Role.M
        assert knobs["G"].role is Role.GROUP
        assert (knobs["num_warps"].value, knobs["num_warps"].choices) == (4, (4, 8))
        assert (knobs["num_stages"].value, knobs["num_stages"].choices) == (None, (4,))

    def test_pins_one_configuration_and_keeps_the_rest(self):
        changed = set_knobs(self.source(), "product", {"TM": 256, "num_warps": 8, "num_stages": 3})
        expected = (
            '[triton.Config({"TM": 256, "TN": 64, "TK": 32, "G": 8, "EXTRA": 7}, num_warps=8, '
            "num_stages=3)]"
        )
        assert expected in changed
        assert 'key=["M", "N", "K"],' in changed
        assert find_knobs(changed)[0].value == 256

    def test_list_kept_elsewhere_or_comprehended(self):
        listed = AUTOTUNED.replace("configs=[", "configs=CONFIGS, other=[")
        named = self.source(listed).replace(
            HEADER, HEADER + "CONFIGS = [triton.Config({'TM': 32, 'TN': 32}, num_warps=2)]\n"
        )
        assert by_name(named)["TM"].choices == (32,)
        comprehended = self.source(
            AUTOTUNED.replace(
                "configs=[",
                "configs=[triton.Config({'TM': m, 'TN': 32}, num_warps=w)"
                " for m in [64, 128] for w in (4, 8)], other=[",
            )
        )
        assert by_name(comprehended)["TM"].choices == (64, 128)
        pinned = set_knobs(comprehended, "product", {"TN": 64})
        assert "configs=[triton.Config({'TM': 64, 'TN': 64}, num_warps=4)]" in pinned
        function = self.source(listed.replace("CONFIGS", "configs()")).replace(
            HEADER, HEADER + "def configs():\n    return [triton.Config({'TM': 16})]\n"
        )
        assert by_name(function)["TM"].choices == (16,)

    def test_heuristics_decide_for_themselves(self):
        kernel = SCALE.replace(
            "@triton.jit", '@triton.heuristics({"num_warps": lambda a: 4})\n@triton.jit'
        )
        source = scaled("scale[(triton.cdiv(n, 64),)](x, y, n, B=64)").replace(SCALE, kernel)
        assert set(by_name(source)) == {"B", "num_stages"}

    def test_heuristics_that_only_read_a_block_leave_it_a_knob(self):
        kernel = SCALE.replace(
            "@triton.jit", '@triton.heuristics({"EVEN": lambda a: a["B"] > 4})\n@triton.jit'
        )
        source = scaled("scale[(triton.cdiv(n, 64),)](x, y, n, B=64)").replace(SCALE, kernel)
        assert set(by_name(source)) == {"B", "num_warps", "num_stages"}

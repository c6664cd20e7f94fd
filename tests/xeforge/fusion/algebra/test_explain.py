"""The text of a rewrite."""

from dataclasses import replace

from tests.xeforge.fusion.algebra.cases import RULE
from tests.xeforge.fusion.algebra.cases import Case
from xeforge.fusion.algebra.engine import rewrite
from xeforge.fusion.algebra.explain import explain


def graph():
    case = Case()
    linear = case.op("linear", case.input(64, 32), case.parameter(48, 32))
    return case.graph(case.op("mul", case.op("max", linear, 1, True, index=0), 1.0))


def test_it_shows_the_graph_and_the_proof():
    text = explain(rewrite(graph()))
    assert text == (
        "inputs: x0 [64, 32]\n"
        "parameters: x1 [48, 32]\n"
        "  linear_2 = linear(x0, x1)  # float64 [64, 48]\n"
        "  max_3 = max(linear_2, 1, True)[0]  # float64 [64, 1]\n"
        "return max_3\n"
        "\n"
        "1. neutral_number (dead) at mul_4: x * 1 = x / 1 = x + 0 = x - 0 = x; a zero may keep "
        "another sign\n"
        "     - mul_4 = mul(max_3, 1.0)  # float64 [64, 1]\n"
        "     + nothing: a value that is there already takes its place\n"
        "     because the number changes nothing: the number 1\n"
        "     residual 0.0e+00 in float64 at x0 [3, 4], x1 [3, 4]\n"
        "\n"
        "bytes 79,360 -> 78,336\n"
        "products 196,608 -> 196,608 flops\n"
        "other 3,136 -> 3,072 flops\n"
        "modelled 0.0 -> 0.0 us\n"
    )


def test_it_shows_new_nodes_and_what_was_not_measured():
    case = Case()
    scaled = case.op("mul", case.op("mul", case.input(64), 2.0), 3.0)
    text = explain(rewrite(case.graph(scaled), is_measured=False))
    assert f"     + {scaled.name} = mul(x0, 6.0)" in text
    assert "residual not measured: not asked for" in text
    assert "parameters: none" in text


def test_it_says_when_nothing_was_done_and_what_was_refused():
    def nothing(builder, found):
        return builder.op("full", found.root.shape, 0.0)

    result = rewrite(graph(), (replace(RULE["neutral_number"], replacement=nothing),))
    assert "refused: neutral_number at mul_4: residual 1.0e+00" in explain(result)
    assert "no rule lowers the modelled work" in explain(rewrite(graph(), ()))

"""`xeforge analyze`: issues with line and remedy, for people and as JSON; no code is run."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[3]
LABELLED = ROOT / "tests" / "xeforge" / "intake" / "issues" / "labelled"


def test_issues_are_printed_with_line_evidence_and_remedy(xeforge):
    done = xeforge("analyze", ROOT / "examples" / "matmul_upcast.py", "--target", "nvidia-h200")
    assert done.code == 0
    text = " ".join((done.out + done.err).split())
    assert "speed dtype_precision line 46: a and b widened to float32" in text
    assert "multiply the tiles as loaded and accumulate in float32" in text
    assert "a language model may name them: fusion_noop" in text


def test_json_holds_the_same(xeforge):
    done = xeforge(
        "analyze", ROOT / "examples" / "layer_norm.py", "--target", "nvidia-h200", "--json"
    )
    found = json.loads(done.out)
    assert {each["type"]: each["line"] for each in found["issues"]} == {
        "suboptimal_algorithm": 45,
        "dtype_float64": 29,
        "cache_eviction_risk": 32,
        "missing_autotune": 72,
    }
    assert all(each["remedy"] for each in found["issues"])
    assert found["model_only"]["open_ended"]


def test_register_modes_are_a_matter_of_intel_devices(xeforge, tmp_path):
    text = (LABELLED / "huge_accumulator.py").read_text(encoding="utf-8")
    kernel = tmp_path / "huge.py"
    inputs = "\n\ndef get_inputs():\n    return [torch.randn(512, 512), torch.randn(512, 512)]\n"
    kernel.write_text(text + inputs, encoding="utf-8")
    kinds = {}
    for target in ("nvidia-h200", "intel-b580"):
        done = xeforge("analyze", kernel, "--target", target, "--json")
        kinds[target] = {each["type"] for each in json.loads(done.out)["issues"]}
    assert kinds["intel-b580"] - kinds["nvidia-h200"] == {"missing_grf_mode"}

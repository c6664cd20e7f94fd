"""Bad input: a clear error with place and remedy, exit code 2, no traceback, nothing lost."""

import os

import pytest


def check(outcome, *words: str) -> None:
    assert outcome.code == 2, outcome.err
    assert "Traceback" not in outcome.err
    assert "remedy:" in outcome.err
    for word in words:
        assert word in outcome.said, outcome.err


def test_missing_file(xeforge, kernel):
    check(xeforge("optimize", kernel.parent / "scael.py"), "no such file", "scale.py")


def test_a_folder_instead_of_a_file(xeforge, kernel):
    check(xeforge("optimize", kernel.parent), "not a regular file")


def test_no_kernel_at_all(xeforge):
    check(xeforge("optimize"), "no kernel given")


def test_empty_file(xeforge, tmp_path):
    empty = tmp_path / "empty.py"
    empty.write_text("", encoding="utf-8")
    check(xeforge("optimize", empty, "--device", "cpu"), "empty")


def test_a_file_that_is_not_utf8_names_the_line(xeforge, kernel):
    kernel.write_bytes(b"# one\n# \xe9t\xe9\n")
    check(xeforge("optimize", kernel, "--device", "cpu"), "scale.py:2", "not UTF-8", "0xe9")


def test_syntax_error_names_the_line(xeforge, kernel):
    kernel.write_text(kernel.read_text().replace("def get_inputs():", "def get_inputs(:"))
    outcome = xeforge("optimize", kernel, "--device", "cpu")
    check(outcome, "scale.py:")


def test_no_model(xeforge, kernel):
    kernel.write_text(kernel.read_text().replace("class Model", "class Kernel"))
    check(xeforge("optimize", kernel, "--device", "cpu"), "Model")


def test_no_jit_function(xeforge, kernel):
    kernel.write_text(kernel.read_text().replace("@triton.jit\n", ""))
    check(xeforge("optimize", kernel, "--device", "cpu"), "triton.jit")


def test_unknown_variant_lists_the_known_ones(xeforge, kernel):
    spec = kernel.with_suffix(".yaml")
    outcome = xeforge("optimize", kernel, "--spec", spec, "--variant", "bench", "--device", "cpu")
    check(outcome, "bench", "bench-gpu", "ci")


def test_a_variant_without_a_spec(xeforge, kernel):
    check(xeforge("optimize", kernel, "--variant", "ci", "--device", "cpu"), "--spec")


def test_undeclared_dimension_names_line_and_field(xeforge, kernel):
    spec = kernel.with_suffix(".yaml")
    spec.write_text(spec.read_text().replace("shape: [N]", "shape: [M]"))
    check(xeforge("optimize", kernel, "--spec", spec, "--device", "cpu"), "scale.yaml:", "M")


def test_unknown_dtype(xeforge, kernel):
    spec = kernel.with_suffix(".yaml")
    spec.write_text(spec.read_text().replace("float32", "float31"))
    check(xeforge("optimize", kernel, "--spec", spec, "--device", "cpu"), "scale.yaml:2", "float31")


def test_a_spec_that_asks_for_500_gigabytes(xeforge, kernel):
    spec = kernel.with_suffix(".yaml")
    spec.write_text(spec.read_text().replace("4194304", "125000000000"))
    outcome = xeforge("optimize", kernel, "--spec", spec, "--device", "cpu")
    check(outcome, "bench-gpu[0]", "500.0 GB")


def test_unknown_target_suggests_the_nearest(xeforge, kernel):
    outcome = xeforge("optimize", kernel, "--device", "cpu", "--target", "nvidia-h20")
    check(outcome, "nvidia-h200")


def test_unknown_device(xeforge, kernel):
    check(xeforge("optimize", kernel, "--device", "tpu"), "tpu", "cuda, xpu or cpu")


def test_unknown_stage(xeforge, kernel):
    outcome = xeforge("optimize", kernel, "--device", "cpu", "--stages", "autotunning")
    check(outcome, "autotunning", "autotuning")


def test_a_budget_of_nothing(xeforge, kernel):
    check(xeforge("optimize", kernel, "--device", "cpu", "--budget-trials", "0"), "budget")


def test_unknown_job(xeforge):
    check(xeforge("optimize", "--resume", "j0"), "j0")


def test_a_file_with_a_resumed_job(xeforge, kernel):
    check(xeforge("optimize", kernel, "--resume", "j0"), "has its files already")


@pytest.mark.parametrize("option", ["--report", "-o"])
def test_a_place_that_cannot_be_written(xeforge, kernel, tmp_path, option):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder", encoding="utf-8")
    target = blocked / "inside" / "x"
    outcome = xeforge("optimize", kernel, "--device", "cpu", option, target)
    check(outcome, "cannot write here")
    assert blocked.read_text(encoding="utf-8") == "a file, not a folder"


def test_a_job_folder_that_cannot_be_made(xeforge, kernel, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XEFORGE_HOME", str(tmp_path / "file" / "home"))
    check(xeforge("optimize", kernel, "--device", "cpu"), "cannot write here")


def test_a_changed_certificate(xeforge, tmp_path):
    file = tmp_path / "certificate.json"
    file.write_text('{"format": 1}', encoding="utf-8")
    check(xeforge("certificate", "check", file), "is no certificate")
    file.write_text("not json", encoding="utf-8")
    check(xeforge("certificate", "check", file), "is no certificate")


def test_an_unknown_option_is_refused_with_usage(xeforge, kernel):
    outcome = xeforge("optimize", kernel, "--quick")
    assert outcome.code == 2
    assert "No such option" in outcome.err


def test_no_secret_of_the_environment_is_printed(xeforge, kernel, monkeypatch):
    monkeypatch.setitem(os.environ, "OPENAI_API_KEY", "sk-canary-1234")
    outcome = xeforge("optimize", kernel, "--device", "tpu")
    assert "sk-canary" not in outcome.err + outcome.out

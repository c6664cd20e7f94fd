"""The first card that the user has made visible is the one that is locked and looked at."""

import pytest

from bench_workers.host.visible import card_id


@pytest.mark.parametrize(
    ("backend", "variable", "value", "card"),
    [
        ("cuda", "CUDA_VISIBLE_DEVICES", "1", "1"),
        ("cuda", "CUDA_VISIBLE_DEVICES", " 3, 1", "3"),
        ("cuda", "CUDA_VISIBLE_DEVICES", "GPU-8f2a-11", "GPU-8f2a-11"),
        ("cuda", "CUDA_VISIBLE_DEVICES", "../../etc", "....etc"),
        ("cuda", "CUDA_VISIBLE_DEVICES", "", "0"),
        ("xpu", "ZE_AFFINITY_MASK", "1.0", "1.0"),
        ("xpu", "CUDA_VISIBLE_DEVICES", "1", "0"),
        ("cpu", "CUDA_VISIBLE_DEVICES", "1", "0"),
    ],
)
def test_the_vendors_variables_are_heard(monkeypatch, backend, variable, value, card) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv(variable, value)
    assert card_id(backend) == card

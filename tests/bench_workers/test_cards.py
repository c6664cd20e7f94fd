"""Cards of this machine, and what a child's words become."""

from bench_workers import cards
from bench_workers.host.card import card_of
from bench_workers.host.card import ceilings_of


def test_the_null_device_has_no_cards():
    assert cards.list_cards("cpu") == ()


def test_without_device_nodes_no_child_is_started(monkeypatch):
    monkeypatch.setattr(cards, "_NODES", {"cuda": "no-such-node*"})
    monkeypatch.setattr(cards, "Sessions", None)
    assert cards.list_cards("cuda") == ()


def test_a_card_is_read_from_a_childs_words():
    facts = {
        "backend": "xpu",
        "product": "Some Card",
        "uuid": "u",
        "driver": "1.2",
        "torch": "2.11",
        "triton": "3.6",
        "memory_bytes": 1 << 34,
    }
    card = card_of(facts, 1)
    assert (card.backend, card.index, card.product, card.driver) == ("xpu", 1, "Some Card", "1.2")
    assert card.memory_bytes == 1 << 34


def test_ceilings_are_read_from_a_childs_words():
    class Asked:
        def ask(self, op, payload, *, seconds):
            return {"copy_bytes_per_s": 4e12, "matrix_flops_per_s": {"float16": 8e14}}

    found = ceilings_of(Asked())
    assert found.copy_bytes_per_s == 4e12
    assert found.matrix_flops_per_s == {"float16": 8e14}

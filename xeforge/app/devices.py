"""`xeforge devices`: device models with data, and the cards of this machine."""

import json
import sys
from dataclasses import asdict

from rich.table import Table

from xeforge.app.choose import choose_backend
from xeforge.app.console import output_console
from xeforge.app.request import JsonOption


def command(*, as_json: JsonOption = False) -> None:
    """List the device models that can be optimized for, and the cards of this machine."""
    from bench_workers.cards import list_cards
    from knowledge.load import load_devices

    devices = load_devices()
    backend = choose_backend(None)
    cards = list_cards(backend) if backend != "cpu" else ()
    if as_json:
        body = {
            "models": [
                {"name": each.name, "title": each.title, "backend": each.backend}
                for each in devices.values()
            ],
            "cards": [asdict(card) for card in cards],
        }
        sys.stdout.write(json.dumps(body, indent=2) + "\n")
        return
    table = Table("model", "title", "backend", "units", "memory bandwidth", "matrix peak (fp16)")
    for each in devices.values():
        peak = each.matrix_flops_per_s.get("float16")
        table.add_row(
            each.name,
            each.title,
            each.backend,
            str(each.compute_units),
            f"{each.bandwidth_bytes_per_s / 1e12:.2f} TB/s",
            f"{peak / 1e12:.0f} TFLOP/s" if peak else "-",
        )
    output_console.print(table)
    for card in cards:
        output_console.print(
            f"here: {card.product}, {card.memory_bytes / 2**30:.0f} GiB, driver {card.driver}"
        )
    if not cards:
        output_console.print("here: no accelerator; candidates are interpreted, speed is estimated")

"""Says what a file's model is made of, and tries it once where that is cheap."""

from typing import Any

import torch
from oracle import begin
from oracle import evaluate
from oracle import fresh
from oracle import shape_text


def _describe(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Construct a model and make its inputs; with ``evaluate``, call it once."""
    answered, model = begin(session, payload)
    answer = {
        "parameters": [f"{name}: {shape_text(each)}" for name, each in answered.state.items()],
        "shapes": [shape_text(each) for each in answered.inputs],
        "is_module": isinstance(model, torch.nn.Module),
    }
    if payload.get("evaluate"):
        results = evaluate(session, payload, model, fresh(session, answered.inputs))
        answer["results"] = [shape_text(each) for each in results]
    return answer


OPERATIONS = {"describe": _describe}

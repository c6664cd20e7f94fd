"""Hard-coded devices go to the chosen one, and their names are told."""

REDIRECT = """
from redirect import Redirect, Widen, stand_ins
protocol.CANDIDATE_FILES.add("<lines>")
"""


def test_every_way_to_name_a_device_is_redirected(interpreter):
    answer = interpreter(
        REDIRECT
        + """
mode = Redirect("cpu", pretend=False)
x = torch.ones(2)
with mode:
    made = [
        x.to("cuda"), x.cuda(), x.xpu(), x.to(torch.device("xpu", 0)), x.to(device="cuda:1"),
        torch.empty(2, device="cuda"), torch.zeros(2, device=torch.device("xpu")),
        torch.nn.Linear(2, 2, device="cuda").weight,
    ]
    module = torch.nn.Linear(2, 2).to("cuda").cuda()
answer["devices"] = sorted({str(each.device) for each in [*made, module.weight]})
answer["replaced"] = sorted(mode.replaced)
"""
    )
    assert answer == {"devices": ["cpu"], "replaced": ["cuda", "xpu"]}


def test_nothing_is_replaced_where_nothing_is_named(interpreter):
    answer = interpreter(
        REDIRECT
        + """
mode = Redirect("cpu", pretend=True)
with mode:
    x = torch.ones(2).to("cpu").to(torch.float16)
answer["dtype"], answer["replaced"] = str(x.dtype), sorted(mode.replaced)
"""
    )
    assert answer == {"dtype": "torch.float16", "replaced": []}


def test_code_that_asks_for_the_device_is_answered_as_on_one(interpreter):
    answer = interpreter(
        REDIRECT
        + """
x = torch.ones(2)
with Redirect("cpu", pretend=True, claim="xpu"):
    answer["device"] = [str(x.device), x.is_xpu, x.is_cuda, x.is_cpu]
    answer["made"] = torch.empty(2, device=x.device).tolist() is not None
answer["after"] = str(x.device)
"""
    )
    assert answer["device"] == ["xpu:0", True, False, False]
    assert answer["made"]
    assert answer["after"] == "cpu"


def test_questions_to_a_missing_device_have_stand_ins(interpreter):
    answer = interpreter(
        REDIRECT
        + """
replaced = set()
before = torch.cuda.is_available()
with stand_ins("cpu", replaced):
    answer["units"] = torch.cuda.get_device_properties(0).multi_processor_count
    answer["xpu"] = torch.xpu.is_available()
    torch.cuda.synchronize()
    with torch.cuda.device(0):
        answer["current"] = torch.cuda.current_device()
answer["restored"] = torch.cuda.is_available() == before
"""
    )
    assert answer["units"] > 1
    assert answer["xpu"]
    assert answer["current"] == 0
    assert answer["restored"]


def test_widening_turns_narrow_formats_into_float64(interpreter):
    answer = interpreter(
        REDIRECT
        + """
x = torch.ones(2, dtype=torch.float64)
with Widen():
    made = [
        x.half(), x.float(), x.to(torch.bfloat16), x.to(dtype=torch.float32),
        torch.zeros(2, dtype=torch.float16), x.sum(dtype=torch.float32),
    ]
    index = x.to(torch.int32)
answer["dtypes"] = sorted({str(each.dtype) for each in made})
answer["integer"] = str(index.dtype)
"""
    )
    assert answer == {"dtypes": ["torch.float64"], "integer": "torch.int32"}

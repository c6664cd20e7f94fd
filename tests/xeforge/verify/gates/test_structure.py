"""Kernels, parameters and input makers stay."""

from xeforge.domain.verdict import Reason


def test_file_without_kernels_is_refused(ask):
    found = ask(("@triton.jit\n", ""))
    assert Reason.NO_CUSTOM_KERNEL in {each.reason for each in found if each.check == "structure"}


def test_file_that_launches_nothing_is_refused(ask):
    (found,) = ask(("add_kernel[grid](x, y, x.numel(), BLOCK=128, num_warps=4)", "pass"))
    assert found.message == "no kernel is launched: kernel[grid](...) appears nowhere"


def test_lost_and_new_parameters_are_named(ask):
    found = ask(("self.weight = nn.Parameter", "self.w = nn.Parameter"))
    texts = {each.message for each in found}
    assert "the parameter self.weight is gone" in texts
    assert "self.w is a new parameter, which no saved weights have" in texts
    (found,) = ask(('register_buffer("step"', 'register_buffer("count"'))[:1]
    assert found.reason == Reason.OUTPUT_CONTRACT
    assert found.message == "the parameter self.step is gone"


def test_buffers_that_are_not_saved_may_come(ask):
    old = "self.width = width"
    new = (
        'self.width = width\n        self.register_buffer("tmp", torch.zeros(1), persistent=False)'
    )
    assert ask((old, new)) == []
    (found,) = ask((old, new.replace(", persistent=False", "")))
    assert "self.tmp is a new parameter" in found.message


def test_plain_attributes_and_helpers_may_come(ask):
    assert (
        ask(("self.width = width", "self.width: int = width\n        self.cache: dict = dict()"))
        == []
    )


def test_input_makers_must_stay_as_they_are(ask):
    (found,) = ask(("[torch.randn(WIDTH, WIDTH)]", "[torch.zeros(WIDTH, WIDTH)]"))
    assert found.reason == Reason.HARNESS_TAMPERING
    assert found.message == "get_inputs makes other inputs than the submitted file"
    (found,) = ask(("def get_init_inputs", "def other_inputs"))
    assert found.message == "the function get_init_inputs is gone"
    assert ask(("return [WIDTH]", "return [ WIDTH ]  # same")) == []

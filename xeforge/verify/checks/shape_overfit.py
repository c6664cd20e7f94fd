"""Refuse a candidate that is right on the timed shapes only."""

from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.checks.ran import ENDED_BADLY
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case
from xeforge.verify.places import describe_wrong
from xeforge.verify.places import listed

NAME = "shape_overfit"


def check(context: CheckContext) -> Finding:
    """Report ragged and untimed shapes that are wrong although the baseline has them right.

    A candidate that is wrong on the timed shapes, too, is simply wrong: other checks say so.
    """
    wrong = [each for each in context.unshown() if _is_wrong(each)]
    if not wrong:
        return passed(NAME)
    texts = listed(f"{describe_case(each)}: {_complaint(each, context)}" for each in wrong)
    if any(_is_wrong(each) for each in context.shown()):
        return passed(NAME, f"wrong on other shapes, too: {texts}")
    return failed(NAME, Reason.SHAPE_OVERFIT, texts, line=wrong[0].line)


def _is_wrong(case: CaseEvidence) -> bool:
    has_wrong = any(each.wrong_count or each.unwritten_count for each in case.outputs)
    return has_wrong or case.status in ENDED_BADLY


def _complaint(case: CaseEvidence, context: CheckContext) -> str:
    if case.status in ENDED_BADLY:
        return f"{case.status.replace('_', ' ')}: {case.message}"
    wrong = next(each for each in case.outputs if each.wrong_count or each.unwritten_count)
    return describe_wrong(wrong, context.build)

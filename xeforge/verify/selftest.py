"""What must come out when the bench tries itself: pure, over what it measured or was given."""

from collections.abc import Sequence
from dataclasses import replace

from xeforge.domain.check import Basis
from xeforge.domain.check import Check
from xeforge.domain.samples import Conditions
from xeforge.domain.samples import PairedSamples
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Speed
from xeforge.domain.verdict import VoidReason
from xeforge.verify.faster import Comparison

PLANTED = 1.05
"""Work of the planted kernel over that of the plain one, by construction."""
MARGIN = 0.01
"""How far the interval may miss the truth on a real card: half of the least effect ever claimed.
Two processes with one and the same kernel differ by some tenths of a percent."""
_FALLEN = 1.3
_UNEVEN = 1.1


def same(found: Comparison, basis: Basis) -> Check:
    """Ask that one kernel on both sides is the same within 1 %, on a bench quiet enough for 5 %.

    A noisy bench calls wide differences the same; that is honest, but no bench to work with.
    """
    is_sharp = abs(found.ratio.estimate - 1) <= MARGIN and found.effect <= PLANTED - 1
    return Check(
        "a_a_is_same",
        found.speed is Speed.SAME and is_sharp,
        basis,
        f"the same kernel on both sides: {_words(found)}",
        found.ratio.estimate,
        "ratio",
    )


def planted(found: Comparison, basis: Basis, *, margin: float = MARGIN) -> Check:
    """Ask that 5 % more work is found SLOWER, with an interval that holds the truth."""
    truth = 1 / PLANTED
    holds = found.ratio.low * (1 - margin) <= truth <= found.ratio.high * (1 + margin)
    return Check(
        "planted_slow_down_is_found",
        found.speed is Speed.SLOWER and holds,
        basis,
        f"5 % more work, so {truth:.4f} is right: {_words(found)}",
        found.ratio.estimate,
        "ratio",
    )


def reciprocal(there: Comparison, back: Comparison, basis: Basis) -> Check:
    """Ask that swapped roles give the inverse ratio, within both intervals, and FASTER."""
    low = max(there.ratio.low, 1 / back.ratio.high)
    high = min(there.ratio.high, 1 / back.ratio.low)
    agrees = low <= high * (1 + MARGIN)
    return Check(
        "swapped_roles_are_reciprocal",
        agrees and back.speed is Speed.FASTER,
        basis,
        f"there {_words(there)}; back {_words(back)}",
        there.ratio.estimate * back.ratio.estimate,
        "ratio",
    )


def timed_outputs(runs: Sequence[PairedSamples]) -> Check:
    """Ask that outputs of timed calls were compared with the oracle, and were right."""
    checked = sum(each.outputs_checked for each in runs)
    wrong = sum(each.outputs_wrong for each in runs)
    return Check(
        "timed_outputs_are_right",
        checked > 0 and wrong == 0,
        Basis.MEASURED,
        f"{checked} outputs of timed calls were compared with the oracle, {wrong} were wrong",
        float(checked),
        "outputs",
    )


def modelled(found: Comparison, *, truth: float, name: str) -> Check:
    """Ask that the cost model gives the ratio that the work has by construction."""
    return Check(
        name,
        abs(found.ratio.estimate / truth - 1) <= MARGIN,
        Basis.ESTIMATED,
        f"the cost model says {found.ratio.estimate:.4f}, {truth:.4f} is right by construction",
        found.ratio.estimate,
        "ratio",
    )


def right(name: str, trial: Trial) -> Check:
    """Ask that nothing is held against a right kernel, whatever its speed."""
    worst = next((each for each in trial.findings if not each.passed), None)
    is_checked = trial.verdict.outcome is not Outcome.VOID and worst is None
    is_checked &= "was not checked" not in trial.verdict.message
    words = f"{worst.check}: {worst.message}" if worst else trial.verdict.message
    return Check(name, is_checked, Basis.RAN, words)


def rejected_as(name: str, trial: Trial, *reasons: Reason) -> Check:
    """Ask that a wrong kernel is rejected, and for the right reason."""
    verdict = trial.verdict
    is_rejected = verdict.outcome is Outcome.REJECTED and verdict.reason in reasons
    found = verdict.reason or verdict.outcome
    return Check(name, is_rejected, Basis.RAN, f"{found}: {verdict.message}")


def clock_drops(series: PairedSamples) -> dict[str, PairedSamples]:
    """Return a recorded run with three simulated mishaps planted into its second half."""
    half = len(series.first_seconds) // 2
    fallen = Conditions((1980, round(1980 / _FALLEN)), (60, 70), ("software power cap",))
    hot = Conditions((1980, round(1980 / _FALLEN)), (60, 95), ("hardware thermal slowdown",))
    return {
        "alike": replace(_slowed(series, half, _FALLEN, _FALLEN), conditions=fallen),
        "uneven": _slowed(series, half, _FALLEN, _FALLEN * _UNEVEN),
        "hot": replace(_slowed(series, half, _FALLEN, _FALLEN), conditions=hot),
    }


def clock_drop_checks(alike: Trial, uneven: Trial, hot: Trial) -> tuple[Check, ...]:
    """Ask that each simulated mishap is noticed in the way that suits it."""
    steady = next((each.message for each in alike.findings if each.check == "steady"), "")
    told = "the clock fell" in steady and "their ratio stands" in steady
    return (
        Check("clock_drop_is_told", told, Basis.RECORDED, steady or "nothing was told"),
        Check(
            "uneven_clock_drop_is_undecided",
            uneven.verdict.outcome is Outcome.UNDECIDED
            and "not one measurement" in uneven.verdict.message,
            Basis.RECORDED,
            f"{uneven.verdict.outcome}: {uneven.verdict.message}",
        ),
        Check(
            "throttling_is_void",
            hot.verdict.void_reason is VoidReason.DEVICE_UNHEALTHY,
            Basis.RECORDED,
            f"{hot.verdict.outcome}: {hot.verdict.message}",
        ),
    )


def slower_series(series: PairedSamples) -> PairedSamples:
    """Return a recorded A/A run whose second side took 5 % longer."""
    return _slowed(series, 0, 1.0, PLANTED)


def swapped(series: PairedSamples) -> PairedSamples:
    """Return a run with the sides exchanged."""
    return replace(
        series,
        first_seconds=series.second_seconds,
        second_seconds=series.first_seconds,
        first_host_seconds=series.second_host_seconds,
        second_host_seconds=series.first_host_seconds,
    )


def _slowed(series: PairedSamples, begin: int, first: float, second: float) -> PairedSamples:
    """Multiply the times of both sides from one pair on; the host's clock sees the same."""
    one, other = (
        _late(series.first_seconds, begin, first),
        _late(series.second_seconds, begin, second),
    )
    return replace(
        series,
        first_seconds=one,
        second_seconds=other,
        first_host_seconds=one,
        second_host_seconds=other,
    )


def _late(seconds: Sequence[float], begin: int, factor: float) -> tuple[float, ...]:
    return tuple(each * (factor if at >= begin else 1.0) for at, each in enumerate(seconds))


def _words(found: Comparison) -> str:
    ratio = found.ratio
    return (
        f"{found.speed}, {ratio.estimate:.4f} ({ratio.low:.4f} to {ratio.high:.4f}), noise floor "
        f"{100 * found.noise_floor:.2g} %"
    )

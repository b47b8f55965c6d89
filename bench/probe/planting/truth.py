"""Measures the cost of a cause: runs the program alternately with and without it."""
import dataclasses
import math
import statistics

from .cases import HANGS, Case
from .programs import Programs

PAIRS = 2


def measure(programs: Programs, case: Case) -> dict:
    """Runs without, with, without, with, without the cause, so that drift cancels. recprobe watches
    the first run with it. Beside each run without it is one with a perfect input, where that differs."""
    without, perfect = case.without(), case.with_perfect_input()
    spared = {'removed_seconds': without} | ({'perfect_seconds': perfect} if perfect else {})
    seconds = {name: [] for name in ('planted_seconds', *spared)}

    def time_spared():
        for name, each in spared.items():
            seconds[name].append(programs.time(each))

    time_spared()
    watched = programs.watch(case)
    seconds['planted_seconds'].append(watched['step_seconds'])
    # A run that hangs is measured once, as removing the cause saves no step time.
    for _ in range(0 if case.of.cause in HANGS else PAIRS - 1):
        time_spared()
        seconds['planted_seconds'].append(programs.time(case))
    time_spared()
    return {**{field.name: getattr(case, field.name) for field in dataclasses.fields(case)
               if field.name not in ('removed', 'perfect')},
            'odd_rank': watched['odd_rank'], **seconds, 'said': watched['said']}


@dataclasses.dataclass
class Repeatability:
    """Relative variance of the mean step between runs, pooled over the cases of a kind, as two or
    three runs of one case are too few (ISO 5725-2)."""
    variance: float
    freedom: int

    @staticmethod
    def of(runs: list[list[float]]) -> 'Repeatability':
        squares, freedom = 0.0, 0
        for seconds in runs:
            logs = [math.log(second) for second in seconds]
            squares += statistics.pvariance(logs) * len(logs)
            freedom += len(logs) - 1
        return Repeatability(squares / max(1, freedom), max(1, freedom))


@dataclasses.dataclass
class Truth:
    """Share of step time that removing the cause, or a perfect input, saves, with half of its 95 % interval."""
    value: float
    half: float


class Truths:
    def __init__(self, cases: list[dict]):
        self.repeats = {(kind, runs): Repeatability.of([case[runs] for case in cases
                                                        if case['kind'] == kind and runs in case])
                        for kind in {case['kind'] for case in cases}
                        for runs in ('planted_seconds', 'removed_seconds', 'perfect_seconds')}

    def of(self, case: dict, spared: str = 'removed_seconds') -> Truth:
        ratio = statistics.mean(case[spared]) / statistics.mean(case['planted_seconds'])
        parts = [(self.repeats[case['kind'], runs], len(case[runs]))
                 for runs in ('planted_seconds', spared)]
        variances = [(each.variance / runs, each.freedom) for each, runs in parts]
        whole = sum(variance for variance, _ in variances)
        # Degrees of freedom by Welch and Satterthwaite.
        below = sum(variance ** 2 / freedom for variance, freedom in variances)
        freedom = whole ** 2 / below if below > 0 else 1e9
        return Truth(1 - ratio, student_975(freedom) * ratio * math.sqrt(whole))

    def of_perfect_input(self, case: dict) -> Truth:
        return self.of(case, 'perfect_seconds' if 'perfect_seconds' in case else 'removed_seconds')


def student_975(freedom: float) -> float:
    """Returns the 0.975 quantile of Student's t (Abramowitz and Stegun 26.7.5)."""
    nu, z = max(2.0, freedom), statistics.NormalDist().inv_cdf(0.975)
    return z * (1 + (z**2 + 1) / (4 * nu) + (5 * z**4 + 16 * z**2 + 3) / (96 * nu**2) +
                (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / (384 * nu**3))

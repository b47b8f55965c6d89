"""Measures the cost of a cause: runs the program alternately with and without it."""
import dataclasses
import math
import statistics

from .cases import HANGS, Case
from .programs import Programs

PAIRS = 2


def measure(programs: Programs, case: Case) -> dict:
    """Runs without, with, without, with, without the cause, so that drift cancels. recprobe watches
    the first run with it."""
    without = case.without()
    removed, planted = [programs.time(without)], []
    watched = programs.watch(case)
    planted.append(watched['step_seconds'])
    # A run that hangs is measured once, as removing the cause saves no step time.
    for _ in range(0 if case.of.cause in HANGS else PAIRS - 1):
        removed.append(programs.time(without))
        planted.append(programs.time(case))
    removed.append(programs.time(without))
    return {**{field.name: getattr(case, field.name) for field in dataclasses.fields(case)
               if field.name != 'removed'},
            'odd_rank': watched['odd_rank'], 'planted_seconds': planted,
            'removed_seconds': removed, 'said': watched['said']}


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
    """Share of step time that removing the cause saves, with half of its 95 % interval."""
    value: float
    half: float


class Truths:
    def __init__(self, cases: list[dict]):
        self.planted = {kind: Repeatability.of([c['planted_seconds'] for c in cases
                                                if c['kind'] == kind])
                        for kind in {c['kind'] for c in cases}}
        self.removed = {kind: Repeatability.of([c['removed_seconds'] for c in cases
                                                if c['kind'] == kind])
                        for kind in self.planted}

    def of(self, case: dict) -> Truth:
        planted, removed = case['planted_seconds'], case['removed_seconds']
        ratio = statistics.mean(removed) / statistics.mean(planted)
        parts = [(self.planted[case['kind']], len(planted)),
                 (self.removed[case['kind']], len(removed))]
        variances = [(each.variance / runs, each.freedom) for each, runs in parts]
        whole = sum(variance for variance, _ in variances)
        # Degrees of freedom by Welch and Satterthwaite.
        below = sum(variance ** 2 / freedom for variance, freedom in variances)
        freedom = whole ** 2 / below if below > 0 else 1e9
        return Truth(1 - ratio, student_975(freedom) * ratio * math.sqrt(whole))


def student_975(freedom: float) -> float:
    """Returns the 0.975 quantile of Student's t (Abramowitz and Stegun 26.7.5)."""
    nu, z = max(2.0, freedom), statistics.NormalDist().inv_cdf(0.975)
    return z * (1 + (z**2 + 1) / (4 * nu) + (5 * z**4 + 16 * z**2 + 3) / (96 * nu**2) +
                (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / (384 * nu**3))

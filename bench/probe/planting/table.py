"""Formats results as tables."""
import collections
import statistics

from .cases import BY_NAME
from .judge import is_right, summary


def confusion(cases: list[dict]) -> dict:
    """Counts the verdicts for each kind of case."""
    table = collections.defaultdict(collections.Counter)
    for case in cases:
        said = case['said']
        table[case['kind']][f"{said['verdict']}: {said['bottleneck']}"] += 1
    return {kind: dict(counts.most_common()) for kind, counts in table.items()}


def line(number: int, case: dict) -> str:
    said, judged = case['said'], case['judged']
    share = said.get('input_share', {})
    wrong = [each for each in ('band', 'place', 'rank') if not judged[each]]
    return (f"{number:3} {case['kind']:27} {case['strength']:.2f} {case['device']} "
            f"x{case['ranks']} {case['step_ms']:6.2f} ms cost {judged['cost']:6.3f} truth "
            f"{judged['truth']:6.3f} ± {judged['truth_half']:.3f} "
            f"said {share.get('value', -1):6.3f} "
            f"[{share.get('low', -1):.3f}, {share.get('high', -1):.3f}] "
            f"{said['verdict']}: {said['bottleneck']} {said.get('rank', '')} "
            f"{' '.join(wrong).upper()} {'' if judged['covered'] else 'interval'}")


def table(results: dict) -> str:
    total = results['summary']
    errors = [abs(case['judged']['error']) for case in results['cases']
              if case['judged']['error'] is not None]
    lines = ['| planted | cases | right | largest error, points | interval holds | verdicts |',
             '|---|---|---|---|---|---|']
    for kind, verdicts in results['confusion'].items():
        cases = [case for case in results['cases'] if case['kind'] == kind]
        of_kind = summary(cases)
        said = ', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())
        error = of_kind['largest_error']
        lines.append(f"| {kind} | {len(cases)} | {sum(is_right(c['judged']) for c in cases)} | "
                     f"{'' if error is None else format(100 * error, '.1f')} | "
                     f"{sum(c['judged']['covered'] for c in cases)} | {said} |")
    lines += ['', f"{total['cases']} cases of seed {results['seed']}, {results['date']}: "
              f"band, place and rank right in {total['right']:.1%}; called input-bound with "
              f"nothing planted there: {total['called_input_bound_without_cause']}; error of the "
              f"share {100 * statistics.mean(errors):.1f} points in the mean, within 3 points in "
              f"{total['share_within_3_points']:.1%}, of the speed with "
              f"a perfect input within 3 % in {total['speed_within_3_percent']:.1%}; interval "
              f"holds the truth, both being estimates, in {total['coverage']:.1%} (half of it "
              f"{_points(total, 'interval')}, of the truth's {_points(total, 'truth')} points "
              f"in the median), and alone what was measured once in "
              f"{total['interval_alone_holds_measured_truth']:.1%}."]
    of_input = summary([case for case in results['cases'] if BY_NAME[case['kind']].of == 'input'])
    lines += [f"Of the {of_input['cases']} of these in which the input is what suffers: right in "
              f"{of_input['right']:.1%}, within 3 points in "
              f"{of_input['share_within_3_points']:.1%}, interval holds the truth in "
              f"{of_input['coverage']:.1%}."]
    if results['too_noisy']:
        lines += [f"No result: {results['too_noisy']}."]
    beside = results['traceml']
    if beside:
        lines += [f"TraceML on {len(beside)} cases in PyTorch, by its own limit: "
                  f"{sum(case['traceml_right'] for case in beside)} right; recprobe's band: "
                  f"{sum(case['recprobe_right'] for case in beside)}."]
    lines += [f'{kind}: {reason}' for kind, reason in results['unavailable'].items()]
    return '\n'.join(lines)


def _points(total: dict, of: str) -> str:
    return format(100 * (total[f'median_half_{of}'] or 0), '.2f')

"""The judge of planted verdicts takes only what is right, and knows how well its truth is known."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'bench/probe'))
from planting import cases, judge, several, truth  # noqa: E402


class SameTruth:
    """For all cases."""

    def __init__(self, value, half=0.005):
        self.value = truth.Truth(value, half)

    def of(self, _case):
        return self.value

    of_perfect_input = of


def judged(kind, verdict, bottleneck, value, true, rank=None, ranks=1, width=0.01, half=0.005):
    said = {'verdict': verdict, 'bottleneck': bottleneck,
            'input_share': {'value': value, 'low': value - width, 'high': value + width}}
    if rank is not None:
        said['rank'] = rank
    case = {'kind': kind, 'ranks': ranks, 'odd_rank': 1, 'said': said}
    return judge.judge(case, SameTruth(true, half))


FUNCTION, OTHER = 'trainer: function', 'trainer: copies'
HIGHLY, NOT = 'highly input-bound', 'not input-bound'


class Bands(unittest.TestCase):
    def test_is_that_of_the_truth(self):
        self.assertTrue(judged(FUNCTION, HIGHLY, 'user function', 0.3, 0.305)['band'])
        self.assertFalse(judged(FUNCTION, NOT, 'model', 0.01, 0.3)['band'])
        # Nearly is not.
        self.assertFalse(judged(FUNCTION, HIGHLY, 'user function', 0.21, 0.199)['band'])

    def test_undecided_is_right_at_a_limit_that_the_interval_holds(self):
        for value, true, width, right in ((0.2, 0.21, 0.01, True), (0.2, 0.21, 0.2, True),
                                          (0.3, 0.3, 0.2, False), (0.23, 0.22, 0.01, False)):
            with self.subTest(value=value, width=width):
                said = judged(FUNCTION, 'undecided', 'user function', value, true, width=width)
                self.assertEqual(said['band'], right)

    def test_what_a_perfect_input_does_not_cure_is_not_input(self):
        self.assertTrue(judged(OTHER, NOT, 'copies to the device', 0.001, 0.4)['band'])
        self.assertFalse(judged(OTHER, HIGHLY, 'copies to the device', 0.4, 0.4)['band'])


class Places(unittest.TestCase):
    def test_is_the_one_that_was_planted(self):
        self.assertTrue(judged(FUNCTION, HIGHLY, 'user function', 0.3, 0.3)['place'])
        for wrong in ('decode', 'model', 'unknown'):
            self.assertFalse(judged(FUNCTION, HIGHLY, wrong, 0.3, 0.3)['place'], wrong)

    def test_a_small_cost_is_no_excuse_but_at_the_limit(self):
        self.assertFalse(judged(OTHER, NOT, 'model', 0, 0.2)['place'])
        self.assertTrue(judged(OTHER, NOT, 'model', 0, 0.11)['place'])
        self.assertTrue(judged(OTHER, NOT, 'model', 0, 0.02)['place'])
        self.assertFalse(judged(OTHER, NOT, 'copies to the device', 0, 0.02)['place'])

    def test_a_hang_is_nothing_else(self):
        for kind in 'trainer: hang', 'trainer: stuck-input':
            self.assertTrue(judged(kind, NOT, 'hang', 0, 0)['place'])
            self.assertFalse(judged(kind, NOT, 'model', 0, 0)['place'])

    def test_nothing_is_the_models(self):
        self.assertTrue(judged('trainer: none', NOT, 'model', 0, 0)['place'])
        self.assertFalse(judged('trainer: none', NOT, 'host', 0, 0)['place'])

    def test_a_rank_is_named_where_one_is_odd_and_nowhere_else(self):
        kind = 'trainer: slow-rank-input'
        for rank, right in ((1, True), (0, False), (None, False)):
            said = judged(kind, HIGHLY, 'user function', 0.3, 0.3, rank=rank, ranks=2)
            self.assertEqual(said['rank'], right, rank)
        self.assertTrue(judged(kind, HIGHLY, 'user function', 0.09, 0.09, ranks=2)['rank'])
        self.assertFalse(judged(FUNCTION, HIGHLY, 'user function', 0.3, 0.3, rank=0)['rank'])

    def test_a_hidden_wait_is_not_of_the_rank_that_waits(self):
        kind = 'trainer: hidden-wait'
        self.assertTrue(judged(kind, NOT, 'slow rank', 0, 0, rank=0, ranks=2)['rank'])
        self.assertFalse(judged(kind, NOT, 'slow rank', 0, 0, rank=1, ranks=2)['rank'])


class Intervals(unittest.TestCase):
    def test_both_uncertainties_count_but_do_not_add_up(self):
        for true, right in ((0.31, True), (0.319, True), (0.325, False)):
            said = judged(FUNCTION, HIGHLY, 'user function', 0.3, true, width=0.015, half=0.015)
            self.assertEqual(said['covered'], right, true)

    def test_a_truth_that_is_known_well_is_held_or_not(self):
        said = judged(FUNCTION, HIGHLY, 'user function', 0.3, 0.32, half=0)
        self.assertFalse(said['covered'] or said['contained'])
        self.assertTrue(judged(FUNCTION, HIGHLY, 'user function', 0.3, 0.309, half=0)['contained'])


class Truths(unittest.TestCase):
    @staticmethod
    def case(planted, removed):
        return {'kind': FUNCTION, 'planted_seconds': planted, 'removed_seconds': removed}

    def test_is_the_time_that_is_spared(self):
        found = truth.Truths([self.case([2.0, 2.0], [1.5, 1.5, 1.5])])
        said = found.of(self.case([2.0, 2.0], [1.5, 1.5, 1.5]))
        self.assertAlmostEqual(said.value, 0.25)
        self.assertEqual(said.half, 0)

    def test_a_perfect_input_may_spare_less_than_the_cure(self):
        case = {**self.case([2.0, 2.0], [1.0, 1.0, 1.0]), 'perfect_seconds': [1.5, 1.5, 1.5]}
        truths = truth.Truths([case])
        self.assertAlmostEqual(truths.of(case).value, 0.5)
        self.assertAlmostEqual(truths.of_perfect_input(case).value, 0.25)
        self.assertEqual(truths.of_perfect_input(self.case([2.0], [1.5])).value, 0.25)

    def test_its_doubt_is_that_of_runs_alike(self):
        noisy = [self.case([2.0, 2.1], [1.5, 1.53, 1.47]) for _ in range(10)]
        quiet = [self.case([2.0, 2.01], [1.5, 1.503, 1.497]) for _ in range(10)]
        halves = [truth.Truths(each).of(self.case([2.0, 2.0], [1.5] * 3)).half
                  for each in (noisy, quiet)]
        self.assertAlmostEqual(halves[0] / halves[1], 10, delta=0.5)
        # 0.75 * t * sqrt(0.0345^2 / 2 + 0.02^2 / 3)
        self.assertAlmostEqual(halves[0], 0.75 * 2.15 * 0.0270, delta=0.002)


class Draws(unittest.TestCase):
    def test_a_seed_gives_the_same_cases_and_another_one_others(self):
        ready = {'decode': 5.0, 'cold-cache': 2.0, 'rectrain': 5.0}

        def drawn(seed):
            return [cases.draw(kind, number, seed, ready)
                    for number, kind in enumerate(cases.KINDS)]

        self.assertEqual(drawn(7), drawn(7))
        self.assertNotEqual(drawn(7), drawn(8))

    def test_strengths_go_from_0_to_80_percent(self):
        kind = cases.BY_NAME[FUNCTION]
        strengths = [cases.draw(kind, number, 3, {}).strength for number in range(300)]
        self.assertLess(min(strengths), 0.02)
        self.assertGreater(max(strengths), 0.78)
        self.assertLessEqual(max(strengths), 0.8)


class Several(unittest.TestCase):
    """Causes of a case with a function and programs that take processors."""

    def judged(self, named, function=0.8, burners=0.3):
        said = {'causes': [{'cause': cause, 'saves': saves} for cause, saves in named]}
        return several.judge({'saves': {'burn': function, 'burners': burners}, 'said': said})

    def test_all_in_their_order_are_right(self):
        both = [('user function', 0.79), ('processors taken by others', 0.31)]
        judged = self.judged(both)
        self.assertTrue(judged['right'])
        self.assertAlmostEqual(judged['errors']['user function'], -0.01)
        self.assertFalse(self.judged(both[::-1])['in_order'])
        self.assertFalse(self.judged(both[:1])['all_named'])

    def test_nothing_else_may_be_named_but_settings(self):
        self.assertFalse(self.judged([('decode', 0.5), ('user function', 0.8),
                                      ('processors taken by others', 0.3)])['right'])
        self.assertTrue(self.judged([('too few workers', 0.8), ('user function', 0.8),
                                     ('processors taken by others', 0.3)])['right'])

    def test_what_saves_about_the_same_has_no_order(self):
        named = [('processors taken by others', 0.5), ('user function', 0.5)]
        self.assertTrue(self.judged(named, 0.52, 0.5)['right'])
        self.assertFalse(self.judged(named, 0.62, 0.5)['right'])

    def test_near_a_tenth_it_may_be_named_or_not(self):
        for named in ([('user function', 0.8)],
                      [('user function', 0.8), ('processors taken by others', 0.11)]):
            self.assertTrue(self.judged(named, burners=0.1)['right'])


if __name__ == '__main__':
    unittest.main()

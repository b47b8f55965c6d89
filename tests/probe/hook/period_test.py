"""Tests how often the hook samples, by what its samples cost."""
import sys
import unittest

from support import HOOK

sys.path.insert(0, str(HOOK))
from recprobe_hook.input_work import period_for  # noqa: E402

MS = 1_000_000  # ns


class Periods(unittest.TestCase):
    def test_cheap_samples_come_twenty_times_a_second(self):
        self.assertEqual(period_for([MS // 10] * 5), 0.05)

    def test_dearer_ones_come_seldom_enough(self):
        self.assertAlmostEqual(period_for([1.2 * MS] * 5), 0.2)
        self.assertAlmostEqual(period_for([60 * MS] * 5), 10)

    def test_one_dear_sample_among_cheap_ones_does_not_end_sampling(self):
        self.assertEqual(period_for([60 * MS, *[MS // 10] * 4]), 0.5)

    def test_first_samples_do_not_end_it(self):
        """A program of eight seconds was sampled once, while it imported its library."""
        for costs in [60 * MS], [60 * MS] * 4:
            self.assertEqual(period_for(costs), 0.5)


if __name__ == '__main__':
    unittest.main()

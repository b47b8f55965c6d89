"""Tests the correction of samples by the time for which the kernel says that a thread ran."""
import sys
import unittest
import unittest.mock

from support import HOOK

sys.path.insert(0, str(HOOK))
from recprobe_hook.blocked import Threads  # noqa: E402
from recprobe_hook.lines import PROGRAM, Lines  # noqa: E402
from recprobe_hook.spent import Spent  # noqa: E402

THREAD, SPAN = 1, 50_000_000  # ns


class TheTimeOfThreads(unittest.TestCase):
    def spent(self, samples, ran):
        """Returns the share of time by name. `samples`: pairs of a name and whether the thread
        computes there; `ran`: the share of each span in which the kernel says that it ran."""
        threads, spent = Threads(), Spent()
        for name, computes in samples:
            spent.add(THREAD, name, SPAN, computes, threads.missed(THREAD, computes, ran, SPAN))
        times = spent.take()
        return {name: time / (SPAN * len(samples)) for name, time in times.items()}

    def test_samples_that_agree_with_the_kernel_stay_as_they_are(self):
        shares = self.spent([('decode', True), ('read', False)] * 200, 0.5)
        self.assertAlmostEqual(shares['decode'], 0.5, delta=0.01)
        self.assertAlmostEqual(shares['read'], 0.5, delta=0.01)

    def test_samples_that_come_when_the_thread_sleeps_are_corrected(self):
        samples = ([('decode', True)] + [('read', False)] * 9) * 40
        shares = self.spent(samples, 0.6)
        self.assertAlmostEqual(shares['decode'], 0.6, delta=0.02)
        self.assertAlmostEqual(shares['read'], 0.4, delta=0.02)

    def test_time_goes_to_what_was_computed_last(self):
        shares = self.spent([('decode', True), ('augment', True)] + [('read', False)] * 98, 0.5)
        self.assertAlmostEqual(shares['augment'], 0.48, delta=0.02)
        self.assertAlmostEqual(shares['decode'], 0.01)

    def test_who_waits_for_the_interpreter_lock_computes(self):
        shares = self.spent([('transform', True)] * 9 + [('read', False)], 0.3)
        self.assertAlmostEqual(shares['transform'], 0.9)

    def test_without_a_sample_that_computes_nothing_is_moved(self):
        self.assertEqual(self.spent([('read', False)] * 10, 0.7), {'read': 1.0})

    def test_no_more_is_moved_than_the_sample_stands_for(self):
        counted = Lines(lane=1)
        counted.threads = unittest.mock.Mock()
        for waits, missed in ('', 0), ('sleep', 10 * SPAN):  # it ran code of nobody's meanwhile
            counted.threads.state.return_value = waits, missed
            counted.add(PROGRAM, THREAD, sys._getframe(), SPAN, 0)
        self.assertEqual(sorted(counted.spent.times.values()), [2 * SPAN])
        self.assertTrue(counted.take(0, 2 * SPAN))

    def test_a_thread_that_ended_is_forgotten(self):
        threads, spent = Threads(), Spent()
        spent.add(THREAD, 'decode', SPAN)
        threads.missed(THREAD, True, 0.5, SPAN)
        threads.forget({})
        spent.forget({})
        self.assertEqual((spent.computed, threads.unseen), ({}, {}))


if __name__ == '__main__':
    unittest.main()

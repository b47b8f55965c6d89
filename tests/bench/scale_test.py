"""Epochs of many ranks: each record comes once, and orders read what the model of docs/guide/scale.md says."""
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench' / 'loader'))

import scale  # noqa: E402

PROGRAM = pathlib.Path(os.environ['EPOCH_OF_RANKS'])


class Epochs(unittest.TestCase):
    def test_each_record_comes_once_whatever_the_ranks(self):
        for records, ranks, batch, order in [(100_000, 1000, 7, 'global'), (99_991, 1000, 7, 'window'),
                                             (99_991, 64, 32, 'window:10:64:2'), (5, 8, 2, 'global'),
                                             (99_991, 1000, 7, 'sequential')]:
            got = scale.simulate(PROGRAM, records, ranks, batch, order, None)
            self.assertEqual((got['samples'], got['doubled'], got['missed']), (records, 0, 0), got)
            counts = got['samples_of_rank']
            self.assertLessEqual(counts['most'] - counts['least'], 1)

    def test_reads_are_those_of_the_model(self):
        records, ranks = 1_000_000, 100
        model = scale.model(records, ranks)['reads_of_rank']
        for order, name in ('global', 'global'), ('window:10:100:2', 'window'):
            reads = scale.simulate(PROGRAM, records, ranks, 32, order, None)['reads_of_rank']['median']
            self.assertAlmostEqual(reads / model[name], 1, delta=0.02)

    def test_ranks_that_do_not_divide_the_lanes_read_single_records(self):
        got = scale.simulate(PROGRAM, 1_000_000, 1000, 32, 'window:10:64:2', None)
        self.assertAlmostEqual(got['reads_of_rank']['median'] / 1000, 1, delta=0.05)

    def test_a_part_is_simulated(self):
        got = scale.simulate(PROGRAM, 10**12, 10**4, 32, 'global', 1000)
        self.assertEqual((got['simulated_ranks'], got['samples']), (100, 100_000))


if __name__ == '__main__':
    unittest.main()

"""Several processes with a loader on one data set: what they share, and what they hold open."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench' / 'loader'))

import many_processes  # noqa: E402

RECORDS, PROCESSES = 1_000_000, 4
MOST_OPEN = 256 + 2 * 8  # RandomAccessOptions::max_open_files, and eight more a thread
OTHERS = 16  # standard streams, statistics


class ManyProcesses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = os.environ['MANY_RECORDS']
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work) / 'many'
            subprocess.run([program, 'make', folder, str(RECORDS)], check=True)
            cls.index_mb = (folder / many_processes.INDEX).stat().st_size / many_processes.MB
            cls.results = many_processes.measure(program, folder, PROCESSES)

    def test_all_have_all_records(self):
        self.assertEqual([r['records'] for r in self.results], [RECORDS] * PROCESSES)

    def test_the_index_is_mapped_and_shared(self):
        for result in self.results:
            self.assertGreaterEqual(result['index_size_mb'], self.index_mb)
            self.assertGreater(result['index_rss_mb'], self.index_mb / 2)
            self.assertEqual(result['index_anonymous_mb'], 0)
        # Each page counts once, divided among those who have it.
        self.assertLess(sum(r['index_pss_mb'] for r in self.results), self.index_mb + 0.1)

    def test_no_process_has_a_copy_of_the_index(self):
        for result in self.results:
            self.assertLess(result['anonymous_mb'], self.index_mb)

    def test_open_files_are_bounded(self):
        for result in self.results:
            self.assertLess(result['open_files'], MOST_OPEN + OTHERS)


if __name__ == '__main__':
    unittest.main()

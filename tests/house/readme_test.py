"""Holds README and docs/guide to the tree: code is that of examples/, figures are those of bench/results/."""
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench'))

import accuracy
import headline
import placements
import ranks
from harness import remote_table, results as kept
from harness.table import table
from probe.planting import table as planted


def read(path: str) -> str:
    return (ROOT / path).read_text('utf-8')


class Readme(unittest.TestCase):
    def test_the_loop_is_the_example(self):
        blocks = re.findall(r'```cpp\n(.*?)```', read('docs/guide/loading-cpp.md'), re.S)
        loops = [block for block in blocks if 'loader.Next()' in block]
        self.assertEqual(len(loops), 1)
        self.assertIn(loops[0], read('examples/softmax.cc'))

    def test_the_tables_are_those_of_the_results(self):
        self.assertIn(headline.table(), read('README.md'), 'python3 bench/headline.py')
        performance = read('docs/guide/performance.md')
        for name in 'records', 'loader', 'python', 'train':
            results = json.loads(read(f'bench/results/{name}.json'))
            self.assertIn(table(results), performance,
                          f'python3 bench/{name}.py --table bench/results/{name}.json')

    def test_the_figures_of_object_stores_are_those_of_the_results(self):
        page = read('docs/guide/object-stores.md')
        results = json.loads(read('bench/results/remote.json'))
        self.assertIn(remote_table.loaders(results), page)
        self.assertIn(remote_table.table(results), page, 'python3 bench/remote.py --table bench/results/remote.json')
        self.assertIn(remote_table.faults(json.loads(read('bench/results/remote-faults.json'))), page)

    def test_the_accuracies_are_those_of_the_results(self):
        results = json.loads(read('bench/results/cifar10-accuracy.json'))
        self.assertIn(accuracy.table(results), read('docs/guide/performance.md'))

    def test_the_verdicts_on_planted_causes_are_those_of_the_results(self):
        results = kept.read(ROOT / 'bench/results/probe-planted.json')
        self.assertIn(planted.table(results), read('docs/guide/performance.md'))

    def test_what_is_said_of_ranks_is_that_of_the_results(self):
        results = json.loads(read('bench/results/ranks.json'))
        self.assertIn(ranks.table(results), read('docs/reference/verdicts.md'), 'python3 bench/ranks.py --table bench/results/ranks.json')

    def test_the_studys_epochs_stand_beside_those_of_the_sweep(self):
        self.assertIn(placements.table(), read('docs/guide/papers/deepconn-study.md'),
                      'python3 bench/placements.py')

    def test_the_tables_of_sweeps_are_those_of_the_results(self):
        shown = ''.join(read(page) for page in ('README.md', 'docs/guide/performance.md',
                                                'docs/guide/papers/deepconn-study.md'))
        for path in (ROOT / 'bench' / 'results').glob('*/sweep.json'):
            said = path.with_name('sweep.md').read_text('utf-8')
            self.assertIn(said.strip(), shown, path)
            rows = [line for line in said.splitlines() if '×' in line]
            for row, line in zip(json.loads(path.read_text('utf-8'))['rows'], rows, strict=True):
                self.assertIn(f"| {row['samples_per_s']:,.0f} | {row['ratio']:.2f}× |", line)


if __name__ == '__main__':
    unittest.main()

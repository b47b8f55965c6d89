"""The README says what is so: its code is built, its figures are those of bench/results/."""
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench'))

import accuracy
from harness.table import table


class Readme(unittest.TestCase):
    def test_the_loop_is_the_example(self):
        blocks = re.findall(r'```cpp\n(.*?)```', (ROOT / 'README.md').read_text('utf-8'), re.S)
        loops = [block for block in blocks if 'loader.Next()' in block]
        self.assertEqual(len(loops), 1)
        self.assertIn(loops[0], (ROOT / 'examples' / 'softmax.cc').read_text('utf-8'))

    def test_the_tables_are_those_of_the_results(self):
        readme = (ROOT / 'README.md').read_text('utf-8')
        for name in 'records', 'loader', 'train':
            results = json.loads((ROOT / 'bench' / 'results' / f'{name}.json').read_text('utf-8'))
            self.assertIn(table(results), readme, f'python3 bench/{name}.py --table {name}.json')

    def test_the_accuracies_are_those_of_the_results(self):
        results = json.loads((ROOT / 'bench/results/cifar10-accuracy.json').read_text('utf-8'))
        self.assertIn(accuracy.table(results), (ROOT / 'README.md').read_text('utf-8'))

    def test_the_tables_of_sweeps_are_those_of_the_results(self):
        readme = (ROOT / 'README.md').read_text('utf-8')
        for path in (ROOT / 'bench' / 'results').glob('*/sweep.json'):
            said = path.with_name('sweep.md').read_text('utf-8')
            self.assertIn(said.strip(), readme, path)
            rows = [line for line in said.splitlines() if '×' in line]
            for row, line in zip(json.loads(path.read_text('utf-8'))['rows'], rows, strict=True):
                self.assertIn(f"| {row['samples_per_s']:,.0f} | {row['ratio']:.2f}× |", line)


if __name__ == '__main__':
    unittest.main()

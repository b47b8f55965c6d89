"""Tests of the lines that recprobe names in Python programs, on a stand-in of PyTorch."""
import json
import os
import pathlib
import sys
import unittest

from probe_program import ProbeCase

LIBRARIES = pathlib.Path(__file__).resolve().parents[1] / 'probe/hook/libraries'
PROGRAM = '''import time
from torch.optim import SGD
from torch.utils.data import DataLoader

class Items:
    def __iter__(self):
        for number in range(120):
            yield self.fetch(number)

    def fetch(self, number):
        time.sleep(0.02)  # planted
        return number

def log():
    time.sleep(0.001)

optimizer = SGD()
for _ in DataLoader(Items()):
    optimizer.step()
    log()
'''
PLANTED = next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if 'planted' in line)


class Lines(ProbeCase):
    def run_program(self, *flags):
        program = self.folder / 'train.py'
        program.write_text(PROGRAM)
        path = os.pathsep.join(filter(None, [str(LIBRARIES), os.environ.get('PYTHONPATH')]))
        return self.probe('run', *flags, '--', sys.executable, '-B', program,
                          env={**os.environ, 'PYTHONPATH': path})

    def test_the_line_is_named_in_text(self):
        told = self.run_program().stderr
        self.assertIn('where: lines of the program', told)
        told = ' '.join(told.split())
        self.assertRegex(told, rf'`Items.fetch` at train.py:{PLANTED} takes [0-9.]+ % of the training '
                               r"thread's time, blocked \(sleep\), calling time.sleep")
        self.assertIn(f'blocked (sleep): train.py:{PLANTED} in Items.fetch, calling time.sleep', told)

    def test_the_line_is_in_json_and_in_the_report(self):
        report = self.folder / 'report'
        verdict = json.loads(self.run_program('--json', '--report', report).stdout.splitlines()[-1])
        line = verdict['line']
        self.assertEqual((line['line'], line['function'], line['role'], line['waits']),
                         (PLANTED, 'Items.fetch', 'training thread', 'sleep'))
        self.assertEqual(pathlib.Path(line['file']).name, 'train.py')
        longest = max(verdict['lines'], key=lambda line: line['share'])
        self.assertEqual(longest['line'], PLANTED)
        self.assertLessEqual({'process', 'role', 'phase', 'file', 'line', 'function', 'calling',
                              'share', 'blocked'}, set(longest))
        self.assertEqual(json.loads((report / 'report.json').read_text())['verdict']['line'], line)
        self.assertIn(f'train.py:{PLANTED} in Items.fetch', self.probe('show', report).stdout)
        page = (report / 'report.html').read_text()
        self.assertIn('Items.fetch', page)
        # The samples are no ranges of the program.
        self.assertNotIn('Items.fetch', (report / 'trace.json').read_text())

    def test_the_line_is_named_from_kept_events(self):
        events = self.folder / 'events'
        verdict = json.loads(self.run_program('--json', '--keep', events).stdout.splitlines()[-1])
        read = json.loads(self.probe('read', events, '--json').stdout)
        self.assertEqual(read['line'], verdict['line'])
        self.assertEqual(read['bottleneck'], verdict['bottleneck'])

    def test_without_the_hook_there_are_none(self):
        verdict = json.loads(self.run_program('--json', '--no-hook').stdout.splitlines()[-1])
        self.assertNotIn('lines', verdict)
        self.assertNotIn('line', verdict)


if __name__ == '__main__':
    unittest.main()

"""Tests of recprobe merge and compare, on reports of real runs and on damaged ones."""
import copy
import json
import os
import signal
import subprocess
import time
import unittest

from launching import clean_environment
from support import CIFAR, CliTest, DONE, FAILURE, FINDING

RECPROBE = os.environ['RECPROBE']
RECTRAIN = os.environ.get('RECTRAIN')


class ReportsTest(CliTest):
    def probe(self, *words, code=DONE):
        done = subprocess.run([RECPROBE, *map(str, words)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=240, env=clean_environment())
        self.assertEqual(done.returncode, code, f'{words}\n{done.stdout}\n{done.stderr}')
        return done

    def write(self, name, report):
        path = self.folder / name / 'report.json'
        path.parent.mkdir(parents=True)
        path.write_text(report if isinstance(report, str) else json.dumps(report))
        return path


def made(verdict, step_s=None, name='job', command=('true',), process=7, **job):
    """A report in the format of docs/format/report.md."""
    report = {'version': 1, 'recprobe': '0.1.0', 'job': {
        'name': name, 'command': list(command), 'host': 'n1', 'user': 'ann', 'rank': None,
        'world_size': None, 'process': process, 'begin': '2026-11-22T05:01:38.250Z',
        'seconds': 3600.0, 'exit_code': 0, 'gpus': 0, **job},
        'verdict': verdict, 'steps': [], 'stages': []}
    if step_s:
        part = [step_s / 5] * 40
        report['steps'] = [{'process': process, 'steps': 400, 'count': [10] * 40,
                            'step_s': [step_s] * 40, 'input_wait_s': part, 'copies_s': part,
                            'exchange_s': part, 'device_s': part, 'other_s': part}]
    return report


@unittest.skipUnless(RECTRAIN, 'this build has no trainer')
class Verdicts(ReportsTest):
    """Reports of real trainings."""

    def verdict(self, device):
        if not (self.folder / 'out').exists():
            self.pack(CIFAR)
        done = self.probe('run', '--json', '--', RECTRAIN, 'train', self.folder / 'out',
                          '--batch-size', '8', '--epochs', '100', '--max-steps', '60', '--devices',
                          device)
        return json.loads(done.stdout.splitlines()[-1])

    def test_merge(self):
        verdict = self.verdict('sim:5ms')
        self.write('runs/a', made(verdict, 0.005, 'one', seconds=1800.0, gpus=4))
        self.write('runs/b', made(verdict, 9.0, 'two', seconds=3600.0, gpus=4, process=8))
        got = json.loads(self.probe('merge', self.folder / 'runs', '--json').stdout)
        self.assertEqual((got['reports'], got['unknown'], got['left_out']), (2, 0, []))
        two = next(job for job in got['jobs'] if job['name'] == 'two')
        self.assertAlmostEqual(two['hours'], 4)
        self.assertEqual(two['unit'], 'GPU-hours')
        for end in 'value', 'low', 'high':
            self.assertAlmostEqual(two['lost'][end], 4 * verdict['input_share'][end])
        self.assertEqual(two['cause'], verdict['bottleneck'])
        self.assertEqual(two['cure'], verdict.get('cure'))
        self.assertAlmostEqual(got['total']['GPU-hours']['hours'], 6)
        text = self.probe('merge', self.folder / 'runs').stdout
        self.assertIn('2 jobs, 2 reports', text)
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines()), text)

    def test_reports_of_a_training_that_goes_on(self):
        self.pack(CIFAR)
        runs = self.folder / 'runs'
        train = [RECTRAIN, 'train', self.folder / 'out', '--batch-size', '8', '--epochs', '100',
                 '--devices', 'sim:5ms']
        # The training is ended by the test, so that it surely goes on while reports are read.
        with subprocess.Popen([RECPROBE, 'run', '--report', runs / 'a', '--report-every', '0.2',
                               '--', *train], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, env=clean_environment()) as watched, \
                subprocess.Popen([RECPROBE, 'merge', runs, '--watch', '--interval', '0.2',
                                  '--json'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 text=True, env=clean_environment()) as merge:
            try:
                first = json.loads(merge.stdout.readline())
                report = json.loads((runs / 'a/report.json').read_text())
                self.assertTrue(report['job']['running'])
                self.assertEqual(report['job']['exit_code'], None)
                self.assertFalse((runs / 'a/trace.json').exists())
                watched.terminate()
                said = watched.communicate(timeout=60)[1]
                lines = [json.loads(line) for line in merge.stdout.read().splitlines()]
                self.assertEqual(merge.wait(timeout=60), DONE)
            finally:
                merge.kill()
                watched.kill()
        self.assertIn(f"report: {runs / 'a'}/report.html", said)
        self.assertEqual((first['reports'], first['running']), (1, 1))
        self.assertIn('1 of its programs goes on', str(first['jobs'][0]['notes']))
        self.assertEqual([line['running'] for line in lines][-1], 0)
        self.assertGreater(lines[-1]['jobs'][0]['hours'], first['jobs'][0]['hours'])
        self.assertEqual(sorted(path.name for path in runs.rglob('*')),
                         ['a', 'report.html', 'report.json', 'trace.json'])
        self.assertFalse(json.loads((runs / 'a/report.json').read_text())['job']['running'])

    def test_a_killed_watch_leaves_its_last_report(self):
        self.pack(CIFAR)
        report = self.folder / 'report'
        watched = subprocess.Popen(
            [RECPROBE, 'run', '--report', report, '--report-every', '0.2', '--', RECTRAIN, 'train',
             self.folder / 'out', '--batch-size', '8', '--epochs', '100', '--devices', 'sim:5ms'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
        while not (report / 'report.json').exists():
            self.assertEqual(watched.poll(), None)
            time.sleep(0.05)
        watched.kill()
        watched.wait(timeout=60)
        training = json.loads((report / 'report.json').read_text())['job']['process']
        os.kill(training, signal.SIGKILL)
        got = json.loads(self.probe('merge', report, '--json').stdout)
        self.assertEqual((got['reports'], got['running'], got['left_out']), (1, 1, []))

    def test_compare(self):
        verdict = self.verdict('sim:5ms')
        a = self.write('a', made(verdict, 0.010))
        b = self.write('b', made(verdict, 0.020, command=['false'], host='n2'))
        got = json.loads(self.probe('compare', a, b.parent, '--json').stdout)
        rate = got['changes'][0]
        self.assertEqual((rate['what'], rate['sure']), ('steps/s', True))
        self.assertAlmostEqual(rate['ratio']['value'], 0.5)
        self.assertEqual(got['changes'][1]['a'], verdict['input_share'])
        self.assertFalse(got['changes'][1]['sure'])
        self.assertEqual([one['what'] for one in got['not_the_same']], ['host', 'command'])
        self.probe('compare', a, b, '--fail-above', '5%', code=FINDING)
        self.probe('compare', a, b, '--fail-above', '0.6')
        self.probe('compare', b, a, '--fail-above', '0.05')
        text = self.probe('compare', a, b).stdout
        self.assertIn('B is slower', text)
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines()), text)


UNKNOWN = {'verdict': 'unknown', 'bottleneck': 'unknown', 'evidence': [], 'notes': []}


class Files(ReportsTest):
    def test_ranks_are_joined(self):
        for run in 'x', 'y':
            for rank in range(3):
                self.write(f'runs/{run}/{rank}', made(UNKNOWN, rank=rank, world_size=3,
                                                      process=100 + rank + 10 * ord(run)))
        self.write('runs/alone', made(UNKNOWN))
        got = json.loads(self.probe('merge', self.folder / 'runs', '--json').stdout)
        self.assertEqual(sorted(len(job['ranks']) for job in got['jobs']), [0, 3, 3])
        self.assertEqual(got['unknown'], 3)
        self.assertIn('3 jobs with unknown loss', self.probe('merge', self.folder).stdout)

    def test_reports_that_are_none_are_left_out(self):
        whole = made(UNKNOWN)
        text = json.dumps(whole)
        newer = copy.deepcopy(whole)
        newer['version'] = 9
        for name, content in (('whole', text), ('xcopy', text), ('half', text[:len(text) // 2]),
                              ('empty', ''), ('foreign', '{"a": 1}'), ('newer', newer)):
            self.write(f'runs/{name}', content)
        got = json.loads(self.probe('merge', self.folder / 'runs', '--json', code=FINDING).stdout)
        self.assertEqual(got['reports'], 1)
        self.assertEqual([one['path'].split('/')[-2] for one in got['left_out']],
                         ['empty', 'foreign', 'half', 'newer', 'xcopy'])
        said = ' '.join(self.probe('merge', self.folder / 'runs', code=FINDING).stdout.split())
        for word in 'half written', 'is not a report', 'version 9', 'the same report':
            self.assertIn(word, said)

    @unittest.skipIf(os.geteuid() == 0, 'root may read everything')
    def test_a_folder_that_cannot_be_read_is_named(self):
        self.write('runs/whole', made(UNKNOWN))
        (self.folder / 'runs/shut').mkdir(mode=0)
        got = json.loads(self.probe('merge', self.folder / 'runs', '--json', code=FINDING).stdout)
        self.assertIn('shut', got['left_out'][0]['path'])

    def test_what_makes_no_sense(self):
        report = self.write('one', made(UNKNOWN))
        empty = self.folder / 'empty'
        empty.mkdir()
        for words, saying in ((['merge', empty], '--report'),
                              (['merge', self.folder / 'none'], 'is not a folder'),
                              (['merge', report], 'is not a folder'),
                              (['merge', report, '--watch'], 'is not a folder'),
                              (['merge', empty, '--interval', '1'], '--watch'),
                              (['run', '--report-every', '1', '--', 'true'], '--report'),
                              (['compare', report, empty], 'report.json'),
                              (['compare', report], 'B'),
                              (['compare', report, report, '--fail-above', 'much'], '0.1%'),
                              (['compare', report, report, '--fail-above', '5%'], 'no steps')):
            self.assertIn(saying, self.probe(*words, code=FAILURE).stderr)


if __name__ == '__main__':
    unittest.main()

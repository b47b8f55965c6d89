"""recprobe --log and recprobe log: which tracker gets what, and what is said where it cannot."""
import json
import os
import sys
import unittest

from fake_mlflow import write_fake_mlflow
from probe_program import EVENTS, ProbeCase


class Log(ProbeCase):
    def setUp(self):
        super().setUp()
        self.packages = self.folder / 'packages'
        write_fake_mlflow(self.packages)
        self.told = self.folder / 'told'

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(('MLFLOW_', 'WANDB_', 'OTEL_'))}
        return {**kept, 'PYTHONPATH': str(self.packages), 'MLFLOW_TRACKING_URI': 'here', 'TOLD': str(self.told), **more}

    def lines(self):
        return [json.loads(line) for line in self.told.read_text().splitlines()]

    def report(self):
        if not (self.folder / 'report').exists():
            self.probe('run', '--report', self.folder / 'report', '--', *EVENTS)
        return self.folder / 'report'

    def test_a_run_is_logged_when_it_ends(self):
        done = self.probe('run', '--report', self.folder / 'report', '--log', 'mlflow:mine', '--', sys.executable, '-c',
                          'pass', env=self.environment())
        self.assertIn('logged to mlflow: run run1 at here', done.stderr)
        told = self.lines()
        self.assertEqual(told[0], ['experiment', 'mine'])
        self.assertEqual(told[1][:2], ['run', '7'])
        self.assertIn(['artifact', 'report.html', 'recprobe'], told)
        self.assertIn(['tag', 'recprobe.verdict', 'unknown'], told)
        self.assertEqual(told[-1], ['end', 'run1'])

    def test_figures_are_those_of_the_report(self):
        report = self.report()
        self.probe('log', report, '--to', 'mlflow:new', '--python', sys.executable, env=self.environment())
        verdict = json.loads((report / 'report.json').read_text())['verdict']
        told = self.lines()
        self.assertEqual(told[1], ['create', 'new'])
        metrics = {key: value for line in told if line[0] == 'metrics' for key, value, _ in line[2]}
        self.assertEqual(metrics['recprobe/input_share'], verdict['input_share']['value'])
        self.assertEqual(metrics['recprobe/input_share_high'], verdict['input_share']['high'])
        self.assertEqual(metrics['recprobe/steps_per_s'], verdict['steps_per_s'])
        self.assertEqual(metrics['recprobe/breakdown/device'], verdict['breakdown']['device'])
        waits = [(value, step) for line in told if line[0] == 'metrics' for key, value, step in line[2]
                 if key == 'recprobe/input_wait_share']
        self.assertGreater(len(waits), 1)
        self.assertEqual([step for _, step in waits], sorted(step for _, step in waits))

    def test_the_trainings_own_run_is_taken_where_the_environment_names_it(self):
        self.probe('log', self.report(), '--to', 'mlflow', '--python', sys.executable,
                   env=self.environment(MLFLOW_RUN_ID='own'))
        told = self.lines()
        self.assertEqual({line[1] for line in told if line[0] == 'metrics'}, {'own'})
        self.assertFalse([line for line in told if line[0] in ('run', 'end')])

    def test_a_missing_package_is_said_before_the_training_starts(self):
        mark, bare = self.folder / 'started', self.folder / 'python-bare'
        bare.write_text(f'#!/bin/sh\nif [ "$1" = -c ]; then exit 3; fi\ntouch {mark}\n')
        bare.chmod(0o755)
        done = self.probe('run', '--report', self.folder / 'report', '--log', 'mlflow', '--', bare, 'train.py', code=2)
        self.assertIn(f'{bare} cannot log to mlflow', done.stderr)
        self.assertIn(f'{bare} -m pip install mlflow', done.stderr)
        self.assertFalse(mark.exists())

    def test_a_tracker_that_refuses_leaves_the_report_and_the_exit_code(self):
        done = self.probe('run', '--report', self.folder / 'report', '--log', 'mlflow', '--', sys.executable, '-c',
                          'raise SystemExit(5)', code=5, env=self.environment(FULL='1'))
        self.assertIn('no room for artifacts', done.stderr)
        self.assertIn(f'recprobe log {self.folder / "report"} --to mlflow', done.stderr)
        self.assertTrue((self.folder / 'report/report.html').exists())

    def test_words_that_name_no_tracker(self):
        done = self.probe('log', self.report(), '--to', 'tensorbord', code=2)
        self.assertIn("unknown tracker 'tensorbord': expected wandb, mlflow, tensorboard, otlp", done.stderr)
        done = self.probe('run', '--log', 'mlflow', '--', 'true', code=2)
        self.assertIn('--report', done.stderr)
        done = self.probe('log', self.report().parent, '--to', 'mlflow', code=2)
        self.assertIn('report.json', done.stderr)
        done = self.probe('log', self.folder / 'report', '--to', 'mlflow', '--python', self.folder / 'none', code=2)
        self.assertIn(str(self.folder / 'none'), done.stderr)


if __name__ == '__main__':
    unittest.main()

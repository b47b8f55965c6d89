"""Reports in object stores: written while a program runs and at its end, and merged from there."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from fake_mlflow import write_fake_mlflow
from launching import clean_environment
from object_server import Faults
from probe_program import EVENTS, RECPROBE, ProbeCase
from store_case import StoreCase
from support import DONE, FAILURE


class ReportStore(StoreCase, ProbeCase):
    def setUp(self):
        super().setUp()
        (self.folder / 'bucket').mkdir()

    def store(self, **options):
        server = self.serve(**options)
        self.env = clean_environment(**self.env)
        return server

    def run_probe(self, *words, code=DONE):
        return self.probe(*words, code=code, env=self.env, cwd=self.folder)

    def watched(self, url, *flags, command=EVENTS, code=DONE):
        return self.run_probe('run', '--report', url, *flags, '--', *command, code=code)

    def refused(self, *words, saying):
        done = self.run_probe(*words, code=FAILURE)
        for text in saying:
            self.assertIn(text, done.stderr)

    def files(self):
        return sorted(str(path.relative_to(self.folder / 'bucket')) for path in (self.folder / 'bucket').rglob('*')
                      if path.is_file())


class Writing(ReportStore):
    def test_a_report_is_there_as_in_a_folder(self):
        server = self.store()
        done = self.watched('s3://bucket/runs/7/')
        self.assertIn('report: s3://bucket/runs/7/report.html', done.stderr)
        self.assertEqual(self.files(), ['runs/7/report.html', 'runs/7/report.json', 'runs/7/trace.json'])
        local = self.folder / 'bucket/runs/7'
        self.assertEqual(json.loads((local / 'report.json').read_text())['job']['exit_code'], 0)
        here = self.run_probe('show', local, '--json').stdout
        for url in 's3://bucket/runs/7', 's3://bucket/runs/7/report.json', f'{server.url}/web/bucket/runs/7':
            self.assertEqual(self.run_probe('show', url, '--json').stdout, here)
        self.assertEqual(self.run_probe('compare', 's3://bucket/runs/7', local).stdout,
                         self.run_probe('compare', local, local).stdout)

    def test_a_report_is_not_replaced(self):
        self.store()
        self.watched('s3://bucket/runs/7')
        before = (self.folder / 'bucket/runs/7/report.json').read_bytes()
        for taken in 's3://bucket/runs/7', 's3://bucket/runs':
            self.refused('run', '--report', taken, '--', 'touch', 'was_run',
                         saying=[taken, 'not an empty folder', 'name a new folder'])
        self.assertFalse((self.folder / 'was_run').exists())
        self.assertEqual((self.folder / 'bucket/runs/7/report.json').read_bytes(), before)

    def test_another_program_took_the_folder_meanwhile(self):
        self.store()
        program = 'import pathlib; at = pathlib.Path("bucket/7/report.json"); at.parent.mkdir(); at.write_text("other")'
        done = self.watched('s3://bucket/7', command=[sys.executable, '-c', program])
        self.assertEqual((self.folder / 'bucket/7/report.json').read_text(), 'other')
        other = [name for name in self.files() if not name.startswith('7/')]
        self.assertEqual([name.rpartition('/')[2] for name in other], ['report.html', 'report.json', 'trace.json'])
        folder = other[0].rpartition('/')[0]
        self.assertTrue(folder.startswith(f'7-{os.uname().nodename}-'), folder)
        self.assertIn(f'report: s3://bucket/{folder}/report.html', done.stderr)

    def test_nothing_is_lost_where_the_store_is(self):
        self.store()
        done = self.watched('s3://bucket/7', command=['sh', '-c', 'mv bucket gone; exit 3'], code=3)
        self.assertIn('s3://bucket/7', done.stderr)
        self.assertIn(f'report: {self.folder}/recprobe-report/report.html', done.stderr)
        report = json.loads((self.folder / 'recprobe-report/report.json').read_text())
        self.assertEqual(report['job']['exit_code'], 3)

    def test_trackers_get_it_too(self):
        self.store()
        packages = self.folder / 'packages'
        write_fake_mlflow(packages)
        told = self.folder / 'told'
        self.env |= {'PYTHONPATH': str(packages), 'MLFLOW_TRACKING_URI': 'here', 'TOLD': str(told)}
        self.watched('s3://bucket/7', '--log', 'mlflow', command=[sys.executable, '-c', 'pass'])
        self.assertIn('["artifact", "report.html", "recprobe"]', told.read_text())
        self.assertIn('7/report.json', self.files())

    def test_places_where_no_report_can_be(self):
        server = self.store()
        for place, saying in [(f'{server.url}/web/bucket/7', ['takes no objects']),
                              ('s3://buckett/7', ['buckett']),
                              ('s3://', ['bucket'])]:
            self.refused('run', '--report', place, '--', 'touch', 'was_run', saying=saying)
        self.env['AWS_ACCESS_KEY_ID'] = 'OTHER'
        self.refused('run', '--report', 's3://bucket/7', '--', 'touch', 'was_run', saying=['InvalidAccessKeyId'])
        self.assertFalse((self.folder / 'was_run').exists())


class Merging(ReportStore):
    def reports(self, count=3):
        for i in range(count):
            self.probe('run', '--report', self.folder / f'bucket/jobs/{i}/rank0', '--', *EVENTS)

    def merged(self, folder, code=DONE):
        text = self.run_probe('merge', folder, '--json', code=code).stdout
        return json.loads(text.replace(str(folder).rstrip('/'), 'JOBS'))

    def test_it_is_the_table_of_the_folder(self):
        self.reports()
        (self.folder / 'bucket/jobs/bad').mkdir()
        (self.folder / 'bucket/jobs/bad/report.json').write_text('{')
        shutil.copytree(self.folder / 'bucket/jobs/0', self.folder / 'bucket/jobs/copy')
        self.store()
        here = self.merged(self.folder / 'bucket/jobs', code=1)
        self.assertEqual((here['reports'], len(here['left_out'])), (3, 2))
        for url in 's3://bucket/jobs', 's3://bucket/jobs/':
            self.assertEqual(self.merged(url, code=1), here)

    def test_through_faults(self):
        self.reports(4)
        self.store(faults=Faults(share=0.3, seed=5, kinds=('cut', '503', '500', 'reset', 'truncated')))
        self.assertEqual(self.merged('s3://bucket/jobs'), self.merged(self.folder / 'bucket/jobs'))

    def test_folders_without_reports(self):
        server = self.store()
        self.refused('merge', 's3://bucket/none', saying=['s3://bucket/none', 'no report.json', 'run --report'])
        for flags in [], ['--watch']:
            self.refused('merge', 's3://none/jobs', *flags, saying=['s3://none/jobs'])
            self.refused('merge', f'{server.url}/web/jobs', *flags, saying=['no listing', 'object store'])

    def test_a_job_is_watched_from_elsewhere(self):
        self.store()
        # It goes on until somebody has seen that it does.
        program = EVENTS[-1] + '\nwhile not os.path.exists("seen"): time.sleep(0.05)'
        begin = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.env)
        with subprocess.Popen([RECPROBE, 'run', '--report', 's3://bucket/jobs/7', '--report-every', '0.2', '--',
                               sys.executable, '-c', program], **begin) as watched, \
                subprocess.Popen([RECPROBE, 'merge', 's3://bucket/jobs', '--watch', '--interval', '0.2', '--json'],
                                 **begin) as merge:
            try:
                first = json.loads(merge.stdout.readline())
                (self.folder / 'seen').touch()
                said = watched.communicate(timeout=60)[1]
                lines = [json.loads(line) for line in merge.communicate(timeout=60)[0].splitlines()]
            finally:
                merge.kill()
                watched.kill()
        self.assertEqual((watched.returncode, merge.returncode), (DONE, DONE), said)
        self.assertEqual((first['reports'], first['running']), (1, 1))
        self.assertEqual((lines[-1]['reports'], lines[-1]['running']), (1, 0))
        self.assertEqual(self.files(), ['jobs/7/report.html', 'jobs/7/report.json', 'jobs/7/trace.json'])


if __name__ == '__main__':
    unittest.main()

"""Tests of recprobe --report: its three files, for trainings and for failures."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from probe_program import EVENTS, ProbeCase, RECPROBE, RECTRAIN
from support import DONE, FAILURE, GOLDEN


class Files(ProbeCase):
    def report(self, *words, code=DONE, **options):
        folder = self.folder / 'report'
        done = self.probe(*words[:1], '--report', folder, *words[1:], code=code, **options)
        self.assertIn(f'report: {folder}/report.html', done.stderr)
        self.assertEqual(sorted(os.listdir(folder)), ['report.html', 'report.json', 'trace.json'])
        self.trace = json.loads((folder / 'trace.json').read_text())
        return json.loads((folder / 'report.json').read_text())

    @unittest.skipUnless(RECTRAIN, 'this build has no trainer')
    def test_of_one_model_on_two_devices(self):
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 200)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        self.report('run', '--', RECTRAIN, 'train', self.folder / 'reviews', '--model', 'deepconn',
                    '--max-tokens', '64', '--devices', 'cpu:0,cpu:1', '--place',
                    'user=cpu:0,item=cpu:1', '--batch-size', '16', '--epochs', '20',
                    '--max-steps', '30', '--threads', '1')
        tracks = {event['tid']: event['args']['name'] for event in self.trace['traceEvents']
                  if event['name'] == 'thread_name'}
        work = {tracks[event['tid']].split(',')[0] for event in self.trace['traceEvents']
                if event['ph'] == 'X' and event['name'] == 'device'}
        self.assertEqual(work, {'device 0', 'device 1'})

    @unittest.skipUnless(RECTRAIN, 'this build has no trainer')
    def test_of_a_training(self):
        got = self.report('run', '--job', 'small', '--',
                          *self.train('--devices', 'sim:30ms', '--epochs', '100', '--max-steps',
                                      '40'))
        self.assertEqual(got['version'], 1)
        job = got['job']
        self.assertEqual((job['name'], job['exit_code']), ('small', 0))
        self.assertEqual(job['command'][1], 'train')
        self.assertGreater(job['seconds'], 1)
        self.assertRegex(job['begin'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$')
        self.assertEqual(got['verdict']['steps'] + got['verdict']['left_out'], 40)
        self.assertEqual([series['steps'] for series in got['steps']], [40])
        self.assertLessEqual(got['steps'][0]['end_s'][-1], job['seconds'] + 0.5)
        timeline = got['timeline']
        rows = len(timeline['begin_s'])
        self.assertGreater(rows, 5)
        for group, figures in timeline.items():
            for figure in figures if not group.endswith('_s') else []:
                self.assertEqual(len(figure['values']), rows, figure['name'])
        self.assertTrue(any(thread['process'] == job['process'] for thread in got['threads']))
        self.assertTrue(any(process['process'] == job['process'] for process in got['processes']))
        self.assertTrue(any(stage['name'] == 'write' for stage in got['stages']))
        steps = [event for event in self.trace['traceEvents'] if event.get('cat') == 'step']
        self.assertEqual(len(steps), 40)

    def test_processors_that_the_program_took_are_in_the_timeline(self):
        work = 'import time\nwhile time.process_time() < 0.7: pass'
        timeline = self.report('run', '--', sys.executable, '-c', work)['timeline']
        cores = {figure['name']: figure['values'] for figure in timeline['cpu']}
        self.assertGreater(max(cores['the program']), 0)
        self.assertGreater(max(cores['recprobe']), 0, 'what watching costs')

    def test_ranks_are_those_of_the_launcher(self):
        env = {**os.environ, 'RANK': '3', 'WORLD_SIZE': '4', 'LOCAL_RANK': '1',
               'LOCAL_WORLD_SIZE': '2', 'SLURM_JOB_NAME': 'imagenet'}
        job = self.report('run', '--', 'true', env=env)['job']
        self.assertEqual((job['rank'], job['world_size'], job['name']), (3, 4, 'imagenet'))

    def test_a_job_is_called_as_the_script_that_a_launcher_starts(self):
        (self.folder / 'train.py').write_text('exit 0')
        job = self.report('run', '--', 'timeout', '--signal', 'KILL', '1000', 'sh',
                          self.folder / 'train.py', 'data.py')['job']
        self.assertEqual(job['name'], 'train.py')

    def test_a_job_is_called_as_the_program_behind_a_launcher_s_options(self):
        job = self.report('run', '--', 'timeout', '-s', 'KILL', '1000s', 'nice', '-n', '1',
                          '/bin/true', 'data')['job']
        self.assertEqual(job['name'], 'true')

    def test_ranks_that_make_no_sense_are_unseen_with_the_reason(self):
        got = self.report('run', '--', 'true', env={**os.environ, 'RANK': '3'})
        self.assertIsNone(got['job']['rank'])
        self.assertIn('WORLD_SIZE', ' '.join(got['unseen']))

    def test_exit_codes_are_kept_and_told(self):
        got = self.report('run', '--', 'sh', '-c', 'exit 7', code=7)
        self.assertEqual(got['job']['exit_code'], 7)

    def test_of_a_process_that_runs(self):
        script = 'import sys, time; print(1, flush=True); time.sleep(60)'
        process = subprocess.Popen([sys.executable, '-c', script], stdout=subprocess.PIPE,
                                   env={**os.environ, 'RANK': '1', 'WORLD_SIZE': '2'})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        job = self.report('attach', '--pid', process.pid, '--seconds', '0.5')['job']
        self.assertEqual((job['process'], job['rank'], job['command'][1]), (process.pid, 1, '-c'))
        self.assertIsNone(job['exit_code'])
        process.stdout.close()

    def test_of_traces(self):
        got = self.report('read', GOLDEN / 'kineto' / 'cuda.json')
        self.assertEqual(got['job']['name'], 'cuda.json')
        self.assertIsNone(got['job']['host'])
        self.assertGreater(len(got['tables']), 0)
        kinds = {event.get('cat') for event in self.trace['traceEvents']}
        self.assertIn('device', kinds)
        self.assertIn('copy', kinds)
        shown = self.probe('show', self.folder / 'report').stdout
        self.assertTrue(shown.startswith(f"verdict: {got['verdict']['verdict']}"), shown)

    def test_show_prints_the_screen_of_a_report(self):
        got = self.report('run', '--', *EVENTS)
        shown = self.probe('show', self.folder / 'report').stdout
        self.assertTrue(shown.startswith('verdict: highly input-bound'), shown)
        again = json.loads(self.probe('show', self.folder / 'report' / 'report.json',
                                      '--json').stdout)
        self.assertEqual(again, got['verdict'])
        done = self.probe('show', self.folder, code=FAILURE)
        self.assertIn('report.json', done.stderr)

    def test_a_program_without_steps_has_a_report_still(self):
        got = self.report('run', '--', 'sleep', '0.3')
        self.assertEqual((got['verdict']['verdict'], got['steps']), ('unknown', []))
        self.assertIn('input wait: unavailable', ' '.join(got['verdict']['notes']))

    def test_of_more_events_than_are_kept_no_gap_is_made_up(self):
        # A kernel of 1 us every 2 us.
        script = '''
import os, struct
record = struct.Struct("<BBHIIIqqQ").pack
with open(f"{os.environ['RECPACK_EVENTS']}/{os.getpid()}-test.events", "wb") as log:
    log.write(record(0, 0, 65535, os.getpid(), 0, 0, 1, 0, 0x315456454b504352))
    log.write(b"".join(record(4, 0, 0, 1, 0, 0, at, at + 1000, 0)
                       for at in range(1, 1_000_000_000, 2000)))
'''
        folder = self.folder / 'report'
        self.probe('run', '--report', folder, '--', sys.executable, '-c', script)
        got = json.loads((folder / 'report.json').read_text())
        self.assertEqual(got['devices'][0]['longest_gaps_ns'][0], 1000)
        self.assertEqual(got['tables'][0]['rows'][0]['calls'], 200_000)
        self.assertIn('only the last 200000 events', ' '.join(got['unseen']))

    def test_of_a_folder_of_events_named_with_a_slash(self):
        kept = self.folder / 'kept'
        self.probe('run', '--keep', kept, '--', *EVENTS)
        got = self.report('read', f'{kept}/')
        self.assertEqual(got['job']['name'], 'kept')
        self.probe('show', self.folder / 'report')

    def test_what_a_page_must_not_obey(self):
        evil = '</script><img src=x onerror=alert(1)>'
        self.report('run', '--job', evil, '--', 'true', evil)
        page = (self.folder / 'report' / 'report.html').read_text()
        self.assertNotIn('<img', page)


class Faults(ProbeCase):
    def test_output_that_cannot_be_written_is_an_error(self):
        self.probe('run', '--report', self.folder / 'report', '--', *EVENTS)
        with open('/dev/full', 'w') as full:
            done = subprocess.run([RECPROBE, 'show', self.folder / 'report'], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn('cannot write all of the output: No space left', done.stderr)
        with open('/dev/full', 'w') as full:
            done = subprocess.run([RECPROBE, 'run', '--json', '--', 'sh', '-c', 'exit 7'],
                                  stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.returncode, 7)

    def test_a_link_to_an_empty_folder_is_filled(self):
        (self.folder / 'there').mkdir()
        (self.folder / 'link').symlink_to('there')
        self.probe('run', '--report', self.folder / 'link', '--', 'true')
        self.assertEqual(sorted(os.listdir(self.folder / 'there')),
                         ['report.html', 'report.json', 'trace.json'])

    def test_a_folder_that_holds_something_is_refused_before_the_start(self):
        (self.folder / 'mine').write_text('x')
        done = self.probe('run', '--report', self.folder, '--', 'touch', self.folder / 'ran',
                          code=FAILURE)
        self.assertIn(str(self.folder), done.stderr)
        self.assertIn('new folder', done.stderr)
        self.assertFalse((self.folder / 'ran').exists())

    @unittest.skipUnless(os.geteuid() != 0, 'root may write anywhere')
    def test_a_folder_that_may_not_be_made(self):
        (self.folder / 'closed').mkdir(mode=0o500)
        done = self.probe('run', '--report', self.folder / 'closed' / 'x', '--', 'true',
                          code=FAILURE)
        self.assertIn('Permission denied', done.stderr)

    def test_where_the_folder_is_filled_meanwhile_the_report_goes_beside_it(self):
        # The program writes its output there, or another rank does.
        folder = self.folder / 'report'
        for code in 0, 7:
            done = self.probe('run', '--report', folder, '--', 'sh', '-c',
                              f'mkdir {folder}; touch {folder}/x; exit {code}', code=code)
            self.assertIn('verdict: ', done.stderr)
            beside, = set(os.listdir(self.folder)) - {'report'}
            self.assertIn(f'report: {self.folder / beside}/report.html', done.stderr)
            got = json.loads((self.folder / beside / 'report.json').read_text())
            self.assertEqual(got['job']['exit_code'], code)
            self.assertEqual(os.listdir(folder), ['x'])
            shutil.rmtree(folder)
            shutil.rmtree(self.folder / beside)

    def test_where_it_cannot_be_written_the_verdict_is_shown_and_the_exit_code_kept(self):
        parent = self.folder / 'parent'
        for code in 0, 7:
            done = self.probe('run', '--report', parent / 'report', '--', 'sh', '-c',
                              f'rmdir {parent}; touch {parent}; exit {code}', code=code)
            self.assertIn('verdict: ', done.stderr)
            self.assertIn('no report was written', done.stderr)
            parent.unlink()


@unittest.skipUnless(os.geteuid() == 0, 'only root may mount')
class FullDisk(ProbeCase):
    def disk(self):
        """Mounts a small file system."""
        disk = self.folder / 'disk'
        disk.mkdir()
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=16k', 'none', disk],
                          capture_output=True).returncode != 0:
            self.skipTest('this container may not mount')
        self.addCleanup(subprocess.run, ['umount', disk], check=True)
        return disk

    @unittest.skipUnless(RECTRAIN, 'this build has no trainer')
    def test_under_what_programs_tell_is_said(self):
        got = self.verdict('run', '--json', '--no-hook', '--',
                           *self.train('--devices', 'sim:1ms', '--epochs', '100', '--max-steps',
                                       '300'), env={**os.environ, 'TMPDIR': str(self.disk())})
        self.assertLess(got['steps'], 290)
        self.assertIn('no room left in', ' '.join(got['notes']))

    def test_is_told_and_the_verdict_shown(self):
        disk = self.disk()
        done = self.probe('run', '--report', disk / 'report', '--', *EVENTS, code=0)
        self.assertIn('verdict: ', done.stderr)
        self.assertIn('No space left', done.stderr)
        self.assertEqual(os.listdir(disk), [])


if __name__ == '__main__':
    unittest.main()

"""Tests of `recprobe run --prometheus`: queries metrics while a training runs."""
import getpass
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import exposition
from launching import clean_environment
from support import CIFAR, CliTest, FAILURE

RECPROBE = os.environ['RECPROBE']
RECTRAIN = os.environ.get('RECTRAIN')
ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN = ('job', 'rank', 'user', 'host')


# Ignores a proxy set in the environment.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url, method='GET'):
    with DIRECT.open(urllib.request.Request(url, method=method), timeout=60) as answer:
        return answer.headers, answer.read().decode()


class Watched(CliTest):
    def start(self, *words, env=None):
        """Starts a watched program. Returns it and the address of its metrics."""
        probe = subprocess.Popen([RECPROBE, 'run', '--prometheus', '127.0.0.1:0', *map(str, words)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                 env=env or clean_environment())
        self.addCleanup(probe.stderr.close)
        self.addCleanup(probe.wait)
        self.addCleanup(probe.send_signal, signal.SIGTERM)
        said = probe.stderr.readline()
        url = re.search(r'http://127\.0\.0\.1:\d+/metrics', said)
        self.assertTrue(url, said)
        return probe, url[0]

    def ask_until(self, url, enough):
        """Polls until the metrics, which are updated from time to time, are complete."""
        for _ in range(600):
            try:
                samples, families = exposition.parse(get(url)[1])
            except urllib.error.HTTPError as error:
                self.assertEqual(error.code, 503)
                samples = []
            if samples and enough(samples):
                return samples, families
            time.sleep(0.1)
        raise AssertionError('the metrics never became complete')


@unittest.skipUnless(RECTRAIN, 'this build has no trainer')
class Training(Watched):
    def start_training(self, **options):
        self.pack(CIFAR)
        return self.start('--', RECTRAIN, 'train', self.folder / 'out', '--batch-size', '8',
                          '--devices', 'sim:20ms', '--epochs', '1000000', **options)

    def test_the_figures_are_the_trainings(self):
        _, url = self.start_training()
        samples, families = self.ask_until(url, lambda found: any(
            name == 'recprobe_steps_total' and value > 20 for name, _, value in found))
        by_name = {}
        for name, labels, value in samples:
            by_name.setdefault(name, []).append((labels, value))
            self.assertEqual(labels['job'], 'rectrain')
            self.assertEqual(labels['rank'], '0')
            self.assertEqual(labels['user'], getpass.getuser())
            self.assertEqual(labels['host'], socket.gethostname())
        only = {name: found[0][1] for name, found in by_name.items() if len(found) == 1}
        self.assertLessEqual(only['recprobe_input_share_low_ratio'],
                             only['recprobe_input_share_ratio'])
        self.assertLessEqual(only['recprobe_input_share_ratio'],
                             only['recprobe_input_share_high_ratio'])
        self.assertLess(only['recprobe_steps_per_second'], 50)
        self.assertAlmostEqual(sum(v for _, v in by_name['recprobe_step_part_ratio']), 1, delta=0.01)
        self.assertAlmostEqual(
            sum(v for _, v in by_name['recprobe_loader_stage_share_ratio']), 1, delta=0.01)
        for family in 'recprobe_band', 'recprobe_bottleneck':
            self.assertEqual(sorted(v for _, v in by_name[family])[-2:], [0, 1], family)
        self.assertGreater(only['recprobe_loader_workers'], 0)
        self.assertGreater(only['recprobe_processors_own'], 0)
        told = (ROOT / 'docs/reference/prometheus.md').read_text('utf-8')
        for family in families:
            self.assertIn(f'`{family}`', told)

    def test_ends_with_the_program(self):
        probe, url = self.start_training()
        self.ask_until(url, bool)
        probe.send_signal(signal.SIGTERM)
        probe.wait(timeout=60)
        with self.assertRaises(OSError):
            get(url)


class Programs(Watched):
    def test_what_is_not_known_is_not_there(self):
        _, url = self.start('--', 'sleep', '60')
        samples, _ = self.ask_until(url, bool)
        names = {name for name, _, _ in samples}
        self.assertIn('recprobe_band', names)
        self.assertFalse([n for n in names if 'input_share' in n or 'loader' in n], names)
        self.assertIn(('unknown', 1.0), [(labels.get('band'), v) for _, labels, v in samples])

    def test_http(self):
        _, url = self.start('--', 'sleep', '60')
        self.ask_until(url, bool)
        headers, _ = get(url)
        self.assertEqual(headers['Content-Type'], 'text/plain; version=0.0.4; charset=utf-8')
        self.assertEqual(get(url, 'HEAD')[1], '')
        for path, method, code in (('/', 'GET', 404), ('/metrics', 'POST', 405)):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                get(url.replace('/metrics', path), method)
            self.assertEqual(caught.exception.code, code)
            caught.exception.close()

    def test_ranks_and_names(self):
        _, url = self.start('--job', 'na"me', '--', 'sleep', '60',
                            env=clean_environment(OMPI_COMM_WORLD_RANK=2, OMPI_COMM_WORLD_SIZE=4,
                                                  OMPI_COMM_WORLD_LOCAL_RANK=0,
                                                  OMPI_COMM_WORLD_LOCAL_SIZE=1))
        samples, _ = self.ask_until(url, bool)
        self.assertEqual(samples[0][1]['job'], 'na"me')
        self.assertEqual(samples[0][1]['rank'], '2')

    def test_a_launcher_that_makes_no_sense(self):
        probe = subprocess.run([RECPROBE, 'run', '--prometheus', '127.0.0.1:0', '--', 'true'],
                               capture_output=True, text=True, timeout=60,
                               env=clean_environment(RANK=3, WORLD_SIZE=2))
        self.assertEqual(probe.returncode, 0)
        self.assertIn('metrics without rank: RANK=3', probe.stderr)

    def test_attach(self):
        sleeper = subprocess.Popen(['sleep', '60'])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        command = pathlib.Path(f'/proc/{sleeper.pid}/cmdline')
        while not command.read_bytes().startswith(b'sleep'):
            time.sleep(0.01)  # until its exec
        probe = subprocess.Popen([RECPROBE, 'attach', '--pid', str(sleeper.pid), '--prometheus',
                                  '127.0.0.1:0'], stderr=subprocess.PIPE, text=True)
        self.addCleanup(probe.stderr.close)
        self.addCleanup(probe.wait)
        self.addCleanup(probe.kill)
        url = re.search(r'http://\S+', probe.stderr.readline())[0]
        samples, _ = self.ask_until(url, bool)
        self.assertEqual(samples[0][1]['job'], 'sleep')

    def test_where_nobody_can_listen_nothing_is_started(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            made = self.folder / 'made'
            for address, saying in ((f'127.0.0.1:{taken.getsockname()[1]}', 'another port'),
                                    ('nowhere', 'HOST:PORT'), ('192.0.2.1:0', 'this machine')):
                done = subprocess.run([RECPROBE, 'run', '--prometheus', address, '--', 'touch',
                                       made], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (FAILURE, ''))
                self.assertIn(saying, done.stderr)
                self.assertFalse(made.exists())


class Dashboard(unittest.TestCase):
    """Checks that docs/grafana/recprobe.json queries existing metrics."""

    LABELS = {*OWN, 'band', 'bottleneck', 'part', 'process', 'loader', 'stage', 'resource',
              'device', 'name', 'uuid'}

    def setUp(self):
        self.dashboard = json.loads((ROOT / 'docs/grafana/recprobe.json').read_text('utf-8'))
        self.documented = set(re.findall(r'`(recprobe_[a-z_]+)`',
                                         (ROOT / 'docs/reference/prometheus.md').read_text('utf-8')))

    def test_every_figure_is_documented(self):
        source = ''.join(path.read_text('utf-8')
                         for path in (ROOT / 'src/probe/live').glob('*metric*.cc'))
        self.assertEqual(set(re.findall(r'"(recprobe_[a-z_]+)"', source)), self.documented)

    def queries(self):
        found = [(panel['title'], target['expr']) for panel in self.dashboard['panels']
                 for target in panel.get('targets', [])]
        variables = [(v['name'], v['query']['query'])
                     for v in self.dashboard['templating']['list'] if v['type'] == 'query']
        self.assertGreater(len(found), 8)
        self.assertEqual({name for name, _ in variables}, {'job', 'rank', 'user'})
        return found + variables

    def test_every_metric_is_exported(self):
        for title, query in self.queries():
            metrics = set(re.findall(r'\brecprobe_[a-z_]+', query))
            self.assertTrue(metrics, title)
            self.assertLessEqual(metrics, self.documented, title)

    def test_every_label_is_exported(self):
        for title, query in self.queries():
            labels = set(re.findall(r'([a-z_]+)\s*(?:=~|!=|!~|=)\s*"', query))
            for names in re.findall(r'(?:by|without|on|ignoring)\s*\(([^)]*)\)', query):
                labels |= {name.strip() for name in names.split(',') if name.strip()}
            for name in re.findall(r'label_values\([^,]+,\s*([a-z_]+)\)', query):
                labels.add(name)
            self.assertTrue(labels, title)
            self.assertLessEqual(labels, self.LABELS, title)
            if not query.startswith('label_values'):
                for label in 'job', 'rank', 'user':
                    self.assertIn(f'{label}=~"${label}"', query, title)

    def test_panels_are_whole(self):
        self.assertEqual(self.dashboard['schemaVersion'], 39)
        self.assertIsNone(self.dashboard['id'])
        ids = [panel['id'] for panel in self.dashboard['panels']]
        self.assertEqual(len(ids), len(set(ids)))
        taken = set()
        for panel in self.dashboard['panels']:
            self.assertTrue(panel['title'] and panel['type'])
            at = panel['gridPos']
            self.assertLessEqual(at['x'] + at['w'], 24)
            cells = {(x, y) for x in range(at['x'], at['x'] + at['w'])
                     for y in range(at['y'], at['y'] + at['h'])}
            self.assertFalse(cells & taken, panel['title'])
            taken |= cells
            for target in panel.get('targets', []):
                self.assertEqual(target['datasource']['uid'], '${datasource}')


if __name__ == '__main__':
    unittest.main()

"""recprobe's figures of a training that runs, as Prometheus and its own client read them, and the
dashboard of them, as Grafana's own types and Prometheus' queries have it."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client.parser import text_string_to_metric_families

from support import CIFAR, ROOT, InFolder, main, pack

sys.path.insert(0, str(ROOT / 'tests/cli'))
import exposition
from launching import free_port

RECPROBE = os.environ.get('RECPROBE', str(ROOT / 'build/release/tools/recprobe/recprobe'))
RECTRAIN = os.environ.get('RECTRAIN', str(ROOT / 'build/release/tools/rectrain/rectrain'))
DASHBOARD = json.loads((ROOT / 'docs/grafana/recprobe.json').read_text(encoding='utf-8'))
# bench/peers/setup.sh unpacks it into the environment that this runs in.
PROMETHEUS = pathlib.Path(sys.prefix) / 'server/usr/bin/prometheus'
# A stand-in of NVIDIA's driver, of a build with tests.
FAKE_NVML = pathlib.Path(RECPROBE).resolve().parents[2] / 'tests/probe/fake_nvml'
GPU = """devices 1
0.name Stand-in
0.uuid GPU-0
0.utilization 97 40
0.power 350000
0.sm_clock 1500
0.gpm 2:55.5
"""


# Without the proxy that the environment may name.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def text_with(url, part):
    for _ in range(600):
        try:
            with DIRECT.open(url, timeout=60) as answer:
                text = answer.read().decode()
                if part in text:
                    return text
        except urllib.error.HTTPError as error:
            error.close()
        time.sleep(0.1)
    raise AssertionError(f'{part} never came')


class WithTraining(InFolder):
    def served(self, job):
        """Where the figures of a training are."""
        pack(CIFAR, self.folder / 'shards')
        script = self.folder / 'nvml'
        script.write_text(GPU)
        env = {**os.environ, 'LD_LIBRARY_PATH': str(FAKE_NVML), 'FAKE_NVML': str(script)}
        probe = subprocess.Popen(
            [RECPROBE, 'run', '--prometheus', '127.0.0.1:0', '--job', job, '--',
             RECTRAIN, 'train', self.folder / 'shards', '--batch-size', '8', '--devices', 'sim:20ms',
             '--epochs', '1000000'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=env)
        self.addCleanup(probe.stderr.close)
        self.addCleanup(probe.wait)
        self.addCleanup(probe.terminate)
        return re.search(r'http://\S+', probe.stderr.readline())[0]


class Client(WithTraining):
    def test_it_reads_what_we_read(self):
        url = self.served('a "job"\\\n')
        text = text_with(url, 'recprobe_lost_device_seconds_total')
        ours = {(name, tuple(sorted(labels.items()))): value
                for name, labels, value in exposition.parse(text)[0]}
        families = list(text_string_to_metric_families(text))
        theirs = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
                  for family in families for sample in family.samples}
        self.assertGreater(len(ours), 60)
        self.assertEqual(ours, theirs)
        self.assertEqual({family.type for family in families}, {'counter', 'gauge'})
        self.assertTrue(all(family.documentation for family in families))
        self.assertEqual({sample.labels['job'] for family in families for sample in family.samples},
                         {'a "job"\\\n'})


def queries():
    """(title, query) of all panels and variables, as Grafana asks them."""
    asked = [(panel['title'], target['expr']) for panel in DASHBOARD['panels']
             for target in panel.get('targets', [])]
    asked += [(variable['name'], re.fullmatch(r'label_values\((\w+), \w+\)',
                                              variable['query']['query'])[1])
              for variable in DASHBOARD['templating']['list'] if variable['type'] == 'query']
    for title, query in asked:
        query = query.replace('$__rate_interval', '5s').replace('$__range', '1m')
        yield title, re.sub(r'"\$\w+"', '".*"', query)


class Server(WithTraining):
    """Prometheus itself."""

    def start(self, target):
        (self.folder / 'prometheus.yml').write_text(
            'global: {scrape_interval: 1s}\n'
            'scrape_configs: [{job_name: recprobe, honor_labels: true, '
            f'static_configs: [{{targets: ["{target}"]}}]}}]\n')
        address = f'127.0.0.1:{free_port()}'
        with open(self.folder / 'log', 'wb') as log:
            server = subprocess.Popen(
                [PROMETHEUS, f'--config.file={self.folder}/prometheus.yml',
                 f'--storage.tsdb.path={self.folder}/tsdb', f'--web.listen-address={address}'],
                stdout=log, stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.api = f'http://{address}/api/v1/query?'

    def answer(self, query):
        """None until there is a server that is ready."""
        try:
            with DIRECT.open(self.api + urllib.parse.urlencode({'query': query}),
                             timeout=60) as answer:
                return json.load(answer)['data']['result']
        except urllib.error.HTTPError as error:
            said = error.read().decode()
            self.assertEqual(error.code, 503, f'{query}: {said}')
            return None
        except urllib.error.URLError:
            return None

    def test_every_query_of_the_dashboard_has_an_answer(self):
        self.assertTrue(PROMETHEUS.exists(), 'bash bench/peers/setup.sh prometheus')
        self.start(urllib.parse.urlsplit(self.served('job')).netloc)
        without = [(title, query) for title, query in queries()
                   if FAKE_NVML.exists() or 'recprobe_device_' not in query]
        self.assertGreater(len(without), 20)
        for _ in range(600):
            without = [(title, query) for title, query in without if not self.answer(query)]
            if not without:
                break
            time.sleep(0.1)
        self.assertEqual(without, [], (self.folder / 'log').read_text()[-2000:])
        labels = self.answer('recprobe_band')[0]['metric']
        self.assertEqual((labels['job'], labels['rank']), ('job', '0'))


def lost(ours, theirs, at='dashboard'):
    """Members of ours that are not in theirs, or not as they were."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [each for key, value in ours.items()
                for each in (lost(value, theirs[key], f'{at}.{key}') if key in theirs
                             else [] if value is None else [f'{at}.{key}'])]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [each for i, (a, b) in enumerate(zip(ours, theirs))
                for each in lost(a, b, f'{at}[{i}]')]
    return [] if ours == theirs else [at]


class Types(InFolder):
    """Those of Grafana's own kit for dashboards: what they do not know, they drop."""

    @staticmethod
    def through(dashboard):
        register_default_plugins()
        return json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))

    def test_hold_all_of_the_dashboard(self):
        self.assertEqual(lost(DASHBOARD, self.through(DASHBOARD)), [])

    def test_drop_what_they_do_not_know(self):
        wrong = json.loads(json.dumps(DASHBOARD))
        wrong['panels'][0]['gridPosition'] = wrong['panels'][0].pop('gridPos')
        self.assertEqual(lost(wrong, self.through(wrong)), ['dashboard.panels[0].gridPosition'])


if __name__ == '__main__':
    main()

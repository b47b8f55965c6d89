"""recprobe's figures of a training that runs, as Prometheus' own client reads them."""
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from support import CIFAR, ROOT, InFolder, main, pack

sys.path.insert(0, str(ROOT / 'tests/cli'))
import exposition

RECPROBE = os.environ.get('RECPROBE', str(ROOT / 'build/release/tools/recprobe/recprobe'))
RECTRAIN = os.environ.get('RECTRAIN', str(ROOT / 'build/release/tools/rectrain/rectrain'))


def text_with(url, part):
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                text = answer.read().decode()
                if part in text:
                    return text
        except urllib.error.HTTPError as error:
            error.close()
        time.sleep(0.1)
    raise AssertionError(f'{part} never came')


class Client(InFolder):
    def test_it_reads_what_we_read(self):
        pack(CIFAR, self.folder / 'shards')
        probe = subprocess.Popen(
            [RECPROBE, 'run', '--prometheus', '127.0.0.1:0', '--job', 'a "job"\\\n', '--',
             RECTRAIN, 'train', self.folder / 'shards', '--batch-size', '8', '--devices', 'sim:20ms',
             '--epochs', '1000000'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(probe.stderr.close)
        self.addCleanup(probe.wait)
        self.addCleanup(probe.terminate)
        url = re.search(r'http://\S+', probe.stderr.readline())[0]
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


if __name__ == '__main__':
    main()

"""Hostile files under every command of recprobe that reads any: traces, folders of events, reports, data
of doctor, ceilings that were kept."""
import gzip
import json
import os
import shutil
import unittest
import unittest.mock

from hostile_files import DEEP_TEXTS, KINDS, SECONDS, HostileFiles, png
from support import DONE, GOLDEN

RECPROBE = os.environ['RECPROBE']


class HostileReports(HostileFiles):
    def probe(self, *words, vouches=True):
        return self.hold(RECPROBE, *words, vouches=vouches)

    def setUp(self):
        super().setUp()
        # Its kernels are templates of std::, which is no word of a library's error.
        self.write('trace.json', (GOLDEN / 'kineto/cuda.json').read_text().replace('std::', ''))
        self.trace = self.folder / 'trace.json'
        done = self.probe('read', GOLDEN / 'kineto/cpu.json.gz', '--report', self.folder / 'good',
                          vouches=False)
        self.assertEqual(done.returncode, DONE, done.stderr)

    # Traces.

    def test_special_files_in_the_place_of_traces(self):
        for kind in KINDS:
            for name in 'trace.json', 'trace.json.gz':
                with self.subTest(kind=kind, name=name):
                    self.special(f'{kind}/{name}', kind)
                    self.probe('read', self.folder / kind / name)
                    self.probe('read', self.folder / kind)

    def test_traces(self):
        whole = self.trace.read_bytes()
        good = json.loads(whole)

        def with_event(**values):
            event = {'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 1.5, 'dur': 2,
                     'args': {'device': 0, 'stream': 7}}
            return json.dumps({**good, 'traceEvents': [*good['traceEvents'], {**event, **values}]})
        most = 2**63 - 1
        refused = {
            'emptied': b'', 'cut': whole[:-100], 'text': b'hello', 'number': b'1', 'list': b'[]',
            'nothing': b'{}',
            'zeros': bytes(100_000), 'no UTF-8': whole[:-3] + b'"\xff"',
            'events are text': b'{"schemaVersion": 1, "traceEvents": "all"}',
            'time beyond all': with_event(ts=1e300), 'number beyond all': b'{"traceEvents": [{"ts": 1e999}]}',
            'gzip cut': gzip.compress(whole)[:-100], 'gzip of nothing': gzip.compress(b''),
            'gzip of a gzip': gzip.compress(gzip.compress(whole)), 'gzip header': b'\x1f\x8b\x08',
            **DEEP_TEXTS,
            'deep and open member': whole.rstrip()[:-1] + b',"x":' + DEEP_TEXTS['deep'].encode()}
        for name, content in refused.items():
            with self.subTest(name):
                self.write('other.json', content)
                self.probe('read', self.folder / 'other.json')
                self.probe('read', self.folder / 'other.json', '--json', '--report', self.folder / 'made')
                self.assertFalse((self.folder / 'made').exists())
        odd = {
            'deep member': json.dumps(good)[:-1] + ',"x":' + DEEP_TEXTS['deep and closed'] + '}',
            'base time': json.dumps({**good, 'baseTimeNanoseconds': most}),
            'rank': json.dumps({**good, 'distributedInfo': {'rank': most, 'world_size': -most}}),
            'times': with_event(ts=-4e15, dur=4e15), 'a long event': with_event(ts=4e15, dur=4e15),
            'device': with_event(pid=most, tid=-most, args={'device': -most, 'stream': most, 'bytes': most}),
            'step': with_event(cat='user_annotation', name='ProfilerStep#' + '9' * 40),
            'a long name': with_event(name='k' * 1_000_000)}
        for name, content in odd.items():
            with self.subTest(name):
                self.write('other.json', content)
                shutil.rmtree(self.folder / 'made', ignore_errors=True)
                self.probe('read', self.folder / 'other.json', '--json', vouches=False)
                self.probe('read', self.folder / 'other.json', '--report', self.folder / 'made',
                           vouches=False)

    def test_folders_of_events(self):
        log = 16
        for kind in KINDS:
            for name in '7-1.events', '7-1.notice', '7-1.lost', 'machine':
                with self.subTest(kind=kind, name=name):
                    self.special(f'{kind}-{name}/{name}', kind)
                    self.probe('read', self.folder / f'{kind}-{name}')
        for name, content in {'emptied': b'', 'text': b'hello' * 100, 'zeros': bytes(100 * log),
                              'ones': b'\xff' * 100 * log}.items():
            with self.subTest(name):
                self.write('events/7-1.events', content)
                self.probe('read', self.folder / 'events')

    # Reports.

    def attack_report(self, path):
        """In the place of a report, under all that read one."""
        good = self.folder / 'good'
        for of in path, path.parent:
            self.probe('show', of)
            self.probe('show', of, '--json')
            self.probe('compare', of, good)
            self.probe('compare', good, of, '--fail-above', '5%')
        self.probe('merge', path.parent)
        self.probe('merge', path.parent, '--json')

    def test_special_files_in_the_place_of_reports(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.special(f'{kind}/report.json', kind)
                self.attack_report(self.folder / kind / 'report.json')
        for kind in KINDS:
            with self.subTest(kind):
                self.special('folder', kind)
                self.probe('merge', self.folder / 'folder')
                self.probe('show', self.folder / 'folder')

    def test_reports(self):
        whole = (self.folder / 'good/report.json').read_text()
        good = json.loads(whole)

        def verdict(**values):
            return json.dumps({**good, 'verdict': {**good['verdict'], **values}})

        def job(**values):
            return json.dumps({**good, 'job': {**good['job'], **values}})
        texts = {
            'emptied': '', 'cut': whole[:-20], 'text': 'hello', 'number': '1', 'list': '[]', 'nothing': '{}',
            'no UTF-8': whole.encode() + b'\xff', 'verdict is text': json.dumps({**good, 'verdict': 'fine'}),
            'job is a list': json.dumps({**good, 'job': []}),
            'version is text': json.dumps({**good, 'version': 'x'}),
            'steps are text': json.dumps({**good, 'steps': 'all'}),
            'a step is a number': json.dumps({**good, 'steps': [3]}),
            'no band': verdict(verdict='fine'), 'a band of number': verdict(verdict=3),
            'steps of less than none': verdict(steps=-1), 'steps beyond all': verdict(steps=1e300),
            'evidence is a number': verdict(evidence=3), 'gain is text': verdict(gain='much'),
            'breakdown is a list': verdict(breakdown=[]),
            'share beyond one': verdict(input_share={'value': 7, 'low': 7, 'high': 7}),
            'a rank beyond all': job(rank=2**63), 'a rank behind the last': job(rank=3, world_size=2),
            'seconds are less than none': job(seconds=-1), 'command is text': job(command='x'),
            'a time of nonsense': job(begin='yesterday'),
            **DEEP_TEXTS, 'deep member': whole.rstrip()[:-1] + ',"x":' + DEEP_TEXTS['deep and closed'] + '}'}
        for name, text in texts.items():
            with self.subTest(name):
                self.write('damaged/report.json', text)
                self.attack_report(self.folder / 'damaged/report.json')

    # Doctor, which measures storage and pictures for a while, and vouches for no data.

    def doctor(self, *words):
        return self.hold(RECPROBE, 'doctor', '--seconds', '0.1', '--json', *words, vouches=False,
                         seconds=6 * SECONDS)

    def test_ceilings_that_were_kept(self):
        cache = self.folder / 'cache'
        with unittest.mock.patch.dict(os.environ, {'XDG_CACHE_HOME': str(cache)}):
            self.doctor()
            kept, = (cache / 'recpack').glob('ceilings-*.json')
            good = json.loads(kept.read_text())
            for name, text in {'text': 'hello', 'ceilings are text': json.dumps({**good, 'ceilings': 'x'}),
                               'deep': DEEP_TEXTS['deep and closed']}.items():
                with self.subTest(name):
                    kept.write_text(text)
                    self.doctor()
            for kind in KINDS:
                with self.subTest(kind):
                    self.special(kept.relative_to(self.folder), kind)
                    self.doctor()

    def test_data_of_doctor(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.special(f'{kind}/one.tar', kind)
                self.doctor('--fresh', '--no-keep', '--data', self.folder / kind / 'one.tar')
                shards = self.shards_at(f'shards {kind}')
                self.special(f'{shards}/train-00000-of-00001.tfrecord', kind)
                self.doctor('--fresh', '--no-keep', '--data', shards)
        for name, text in {'cut': b'{"splits"', 'deep': DEEP_TEXTS['deep and closed'].encode()}.items():
            with self.subTest(name):
                (self.shards_at(name) / 'manifest.json').write_bytes(text)
                self.doctor('--fresh', '--no-keep', '--data', self.folder / name)
        for name, content in {'text': b'hello', 'cut': (GOLDEN / 'image/real_420.jpg').read_bytes()[:400],
                              'no rows': png(0, 0, 8, 2, [])}.items():
            with self.subTest(picture=name):
                self.write(f'pictures {name}/a/x.jpg', content)
                self.doctor('--fresh', '--no-keep', '--data', self.folder / f'pictures {name}')


if __name__ == '__main__':
    unittest.main()

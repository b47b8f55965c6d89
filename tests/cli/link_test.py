"""The link to a store is measured: the table, and what it advises. How fast this machine is, is no matter here."""
import json
import os
import subprocess
import unittest

from planted_link import Link
from store_case import StoreCase

DELAY = 0.02


class MeasuredLink(StoreCase):
    def setUp(self):
        super().setUp()
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'cifar10', '--rows', 30)
        self.pack(self.folder / 'made', out='bucket/data')

    def doctor(self, *words, url='s3://bucket/data', code=0, seconds=0.5):
        done = subprocess.run([os.environ['RECPROBE'], 'doctor', '--store', url, '--seconds', str(seconds), *words],
                              capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **self.env})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_late_answers_ask_for_window_order(self):
        self.serve(link=Link(delay=DELAY))
        link = json.loads(self.doctor('--json', seconds=3))['link']  # each part has some also on a busy machine
        self.assertTrue(link['object'].startswith('s3://bucket/data/train-'), link)
        ranges = {rate['range_bytes'] for rate in link['rates']}
        self.assertEqual(ranges, {link['record_bytes'], 65536, 262144})  # the shard has no more
        self.assertEqual({rate['at_once'] for rate in link['rates']}, {1, 4, 16, 64})
        for rate in link['rates']:
            self.assertGreaterEqual(rate['first_byte_s'], DELAY)
            self.assertGreater(rate['requests'], 0)
            self.assertEqual((rate['throttled'], rate['failed']), (0, 0))
        # One at a time: a range takes the delay at least.
        alone = next(rate for rate in link['rates'] if (rate['range_bytes'], rate['at_once']) == (65536, 1))
        self.assertLessEqual(alone['bytes_per_s'], 65536 / DELAY)
        self.assertEqual(link['order'], 'window')
        self.assertGreaterEqual(link['best_bytes_per_s'], alone['bytes_per_s'])

    def test_it_is_a_table_for_people(self):
        server = self.serve()
        text = self.doctor(url=f'{server.url}/web/bucket/data')
        for said in ('range, at a time', '(a record)', '65.5 kB', 'Ranges of', 'samples/s in global order'):
            self.assertIn(said, text)
        self.assertIn('range, at a time', self.run_recpack('bench', 's3://bucket/data', '--seconds', 0.05,
                                                            env=self.env).stdout)

    def test_refusals_are_counted(self):
        self.serve(link=Link(requests_per_second=100))
        link = json.loads(self.doctor('--json', seconds=3))['link']  # some are answered in each part
        self.assertGreater(sum(rate['throttled'] for rate in link['rates']), 0)
        self.assertIn('429 or 503', self.doctor(seconds=3))

    def test_what_cannot_be_measured(self):
        server = self.serve()
        (self.folder / 'bucket/small.bin').write_bytes(b'few')
        self.assertIn('too little to measure a link', self.doctor(url='s3://bucket/small.bin', code=2))
        self.assertIn('is not a URL', self.doctor(url=str(self.folder), code=2))
        self.assertIn('none', self.doctor(url=f'{server.url}/web/bucket/none', code=2))
        self.fails('bench', self.folder / 'bucket/data', saying='--recipe is required')


if __name__ == '__main__':
    unittest.main()

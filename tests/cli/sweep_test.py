"""Tests rectrain sweep: its table, its files, resuming and failures."""
import json
import os
import re
import subprocess
import unittest
import unittest.mock
import xml.etree.ElementTree

from support import CIFAR, HAS_BF16, CliTest

RECTRAIN = os.environ['RECTRAIN']


class Sweep(CliTest):
    def setUp(self):
        super().setUp()
        self.shards = self.folder / 'out'
        self.made = self.folder / 'sweep'
        self.pack(CIFAR / 'cifar-10-batches-py')

    def sweep(self, *arguments, code=0):
        command = [RECTRAIN, 'sweep', self.shards, '--width', '8', '--batch-size', '8',
                   '--steps', '2', *arguments]
        got = subprocess.run(command, capture_output=True, text=True, timeout=200)
        self.assertEqual(got.returncode, code, got.stderr)
        return got

    def rows(self, text):
        """Rows of a Markdown table, one dict each."""
        lines = [[cell.strip() for cell in line.strip('|').split('|')]
                 for line in text.splitlines() if line.startswith('|')]
        return [dict(zip(lines[0], line)) for line in lines[2:]]

    def test_one_table_in_three_forms(self):
        got = self.sweep('--devices-list', 'cpu:0;cpu:0,cpu:1', '--threads-list', '1', '--rounds',
                         '3', '--strategies', 'replicated,parameter_server/device,'
                         'parameter_server/spread', '--out', self.made)
        self.assertEqual(sorted(os.listdir(self.made)), ['sweep.json', 'sweep.md', 'sweep.svg'])
        self.assertEqual((self.made / 'sweep.md').read_text(), got.stdout)
        rows = self.rows(got.stdout)
        self.assertEqual([(row['devices'], row['strategy']) for row in rows],
                         [('cpu:0', 'replicated'), ('cpu:0', 'parameter_server/device'),
                          ('cpu:0,cpu:1', 'replicated'),
                          ('cpu:0,cpu:1', 'parameter_server/device'),
                          ('cpu:0,cpu:1', 'parameter_server/spread')])
        self.assertNotIn('layout', rows[0], 'what is the same in all rows is said below')
        self.assertIn('layout nhwc; norm fused; type f32; input real', got.stdout)
        self.assertIn('- cpu:0 parameter_server/spread nhwc fused f32 real 1 free: the same '
                      'training as cpu:0 parameter_server/device', got.stdout)
        self.assertEqual(rows[0]['to the first'], '1.00×')
        self.assertEqual(rows[0]['exchanged a step'], '0 B')
        for row in rows[1:]:
            self.assertRegex(row['exchanged a step'], r'^\d+\.\d [kM]B$')
            self.assertRegex(row['wait for the exchange'], r'^\d+\.\d %$')
        told = json.loads((self.made / 'sweep.json').read_text())
        self.assertEqual([len(row['runs']) for row in told['rows']], [3] * 5)
        for row in told['rows']:
            speeds = sorted(run['samples_per_s'] for run in row['runs'])
            self.assertEqual(row['samples_per_s'], speeds[1])
            self.assertEqual(row['ratio'],
                             row['samples_per_s'] / told['rows'][0]['samples_per_s'])
        picture = xml.etree.ElementTree.parse(self.made / 'sweep.svg').getroot()
        texts = [node.text for node in picture.iter('{http://www.w3.org/2000/svg}text')]
        self.assertIn('cpu:0,cpu:1 · parameter_server/spread', texts)
        self.assertIn(rows[-1]['samples/s'], texts)
        order = re.findall(r'round (\d)', got.stderr)
        self.assertEqual(order, ['1'] * 5 + ['2'] * 5 + ['3'] * 5)

    def test_axes_of_the_network_and_of_its_input(self):
        got = self.sweep('--rounds', '1', '--threads-list', '1', '--bindings', 'free,bound',
                         '--data-formats', 'nhwc,nchw', '--norms', 'fused,unfused', '--json')
        told = json.loads(got.stdout)
        self.assertEqual(len(told['rows']), 8)
        self.assertEqual(told['setting']['axes']['norm'], ['fused', 'unfused'])
        types = 'f32,bf16' if HAS_BF16 else 'f32'
        got = self.sweep('--rounds', '1', '--dtypes', types, '--threads-list', '1,2',
                         '--inputs', 'real,cached,synthetic')
        self.assertEqual(len(self.rows(got.stdout)), 12 if HAS_BF16 else 6)
        self.assertEqual(os.listdir(self.folder), ['out'])

    def test_placements_of_one_model(self):
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 300)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        self.shards = self.folder / 'reviews'
        flags = ('--model', 'deepconn', '--max-tokens', '24', '--dims', '8', '--filters', '8',
                 '--pooling', '2/1', '--rounds', '1', '--devices-list', 'cpu:0,cpu:1',
                 '--placements', 'one;towers;alternate')
        got = self.sweep(*flags, '--out', self.made)
        rows = self.rows(got.stdout)
        self.assertEqual([row['placement'] for row in rows], ['one', 'towers', 'alternate'])
        told = json.loads((self.made / 'sweep.json').read_text())
        self.assertEqual(told['setting']['sizes']['pooling'], '2/1')
        for row, of, copies in zip(rows, told['rows'], (0, 4, 30), strict=True):
            self.assertEqual(of['copies'], copies)
            self.assertGreater(of['epoch_steps'], 20)
            self.assertEqual(row['copies an epoch'], f"{copies * of['epoch_steps']:,.0f}")
            self.assertEqual(row['s an epoch'], f"{of['step_seconds'] * of['epoch_steps']:.2f}")
            self.assertEqual(row['time copying'],
                             f"{100 * of['copy_seconds'] / of['step_seconds']:.1f} %")
        self.assertNotIn('round', self.sweep(*flags, '--out', self.made, '--resume').stderr)
        for names, words in (('one;one', "'one' is named twice"),
                             ('user=cpu:7', 'cpu:7')):
            got = self.sweep(*flags[:-1], names, code=2 if 'one' in names else 1)
            self.assertIn(words, got.stderr)

    def test_goes_on(self):
        flags = ('--rounds', '2', '--threads-list', '1', '--data-formats', 'nhwc,nchw', '--out',
                 self.made)
        self.sweep(*flags)
        file = self.made / 'sweep.json'
        whole = json.loads(file.read_text())
        self.assertIn('the folder already contains a sweep', self.sweep(*flags, code=2).stderr)
        self.assertNotIn('round', self.sweep(*flags, '--resume').stderr)
        part = json.loads(file.read_text())
        del part['rows'][1]['runs'][1]
        part['rows'][0]['runs'][1] = {'round': 1, 'error': 'no memory'}
        file.write_text(json.dumps(part))
        got = self.sweep(*flags, '--resume')
        self.assertEqual(len(re.findall('round 2', got.stderr)), 2)
        self.assertNotIn('round 1', got.stderr)
        now = json.loads(file.read_text())
        for row in 0, 1:
            self.assertEqual(now['rows'][row]['runs'][0], whole['rows'][row]['runs'][0])
            self.assertEqual(len(now['rows'][row]['runs']), 2)
        self.assertIn('it was made with', self.sweep(*flags, '--resume', '--seed', '4',
                                                     code=2).stderr)
        for text in '{}', '{"setting": ' + '[' * 500_000 + ']' * 500_000 + '}':
            file.write_text(text)
            self.assertIn('not a sweep', self.sweep(*flags, '--resume', code=2).stderr)

    def test_a_combination_that_fails_is_a_row(self):
        got = self.sweep('--rounds', '2', '--threads-list', '1', '--devices-list',
                         'cuda:99;cpu:0', '--out', self.made, code=1)
        rows = self.rows(got.stdout)
        self.assertIn('failed: ', rows[0]['samples/s'])
        self.assertIn('cuda:99', rows[0]['samples/s'])
        self.assertEqual(rows[1]['to the first'], '1.00×')
        self.assertEqual(len(re.findall('cuda:99.*failed', got.stderr)), 1, 'tried once')
        told = json.loads((self.made / 'sweep.json').read_text())
        self.assertIn('cuda:99', told['rows'][0]['error'])
        self.assertEqual(len(told['rows'][1]['runs']), 2)
        self.assertIn('>failed<', (self.made / 'sweep.svg').read_text())

    def test_is_of_one_process(self):
        with unittest.mock.patch.dict(os.environ, RANK='1', WORLD_SIZE='2',
                                      MASTER_ADDR='localhost', MASTER_PORT='1'):
            self.assertIn('a sweep runs in one process', self.sweep(code=2).stderr)

    def test_refuses(self):
        for arguments, words in [
            (('--resume',), 'nothing to resume'),
            (('--devices-list', 'cpu:0;gpu:1'), "unknown device 'gpu:1'"),
            (('--data-formats', 'nhwc,nhwc'), "'nhwc' is named twice"),
            (('--data-formats', 'chwn'), '--data-formats'),
            (('--threads-list', '-1'), '--threads-list'),
            (('--rounds', '0'), '--rounds'),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.sweep(*arguments, code=2).stderr)


if __name__ == '__main__':
    unittest.main()

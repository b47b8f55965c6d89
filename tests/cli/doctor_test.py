"""Tests of recprobe doctor, and of `recprobe run` with the ceilings that it cached."""
import json
import os
import shutil
import subprocess
import unittest

from support import CIFAR, CliTest, DONE, FAILURE, FINDING, GOLDEN

RECPROBE = os.environ['RECPROBE']
RECTRAIN = os.environ.get('RECTRAIN')
SHORT = ('--seconds', '0.2')


class DoctorTest(CliTest):
    """Runs recprobe doctor with its cache in the test's own folder."""

    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, 'XDG_CACHE_HOME': str(self.folder / 'cache')}

    def probe(self, *words, codes=(DONE,), **options):
        options.setdefault('env', self.environment)
        done = subprocess.run([RECPROBE, *map(str, words)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=240, **options)
        self.assertIn(done.returncode, codes, f'{words}\n{done.stdout}\n{done.stderr}')
        return done

    def doctor(self, *words):
        """Runs doctor. The machine may have findings or not, but the exit code must agree."""
        done = self.probe('doctor', '--json', *SHORT, *words, codes=(DONE, FINDING))
        got = json.loads(done.stdout)
        sure = any(finding['surely'] for finding in got['machine']['findings'])
        self.assertEqual(done.returncode, FINDING if sure else DONE)
        return got

    def photo_shards(self):
        photos = self.folder / 'photos/all'
        photos.mkdir(parents=True)
        for i in range(4):
            (photos / f'{i}.jpg').write_bytes((GOLDEN / 'image/real_420.jpg').read_bytes())
        self.pack(self.folder / 'photos', out='photo-shards')
        return self.folder / 'photo-shards'


class Doctor(DoctorTest):
    def test_the_machine_and_its_ceilings(self):
        got = self.doctor()
        self.assertGreaterEqual(got['machine']['processors']['used'], 1)
        self.assertGreater(got['machine']['memory']['total'], 0)
        rates = {each['name']: each for each in got['ceilings']['ceilings']}
        for name in 'memcpy', 'memset', 'CRC-32C', 'inflate', 'JPEG decode':
            for threads in 'one', 'all':
                spread = rates[name][threads]
                self.assertLessEqual(0, spread['low'])
                self.assertLessEqual(spread['low'], spread['value'])
                self.assertLessEqual(spread['value'], spread['high'])
        for each in rates.values():
            for threads in 'one', 'all':
                # Measured, or unavailable with a reason; never 0.
                self.assertTrue(each[threads].get('unavailable') or each[threads]['value'] > 0)

    def test_the_users_pictures(self):
        shards = self.photo_shards()
        got = self.doctor('--data', shards)
        rates = {each['name']: each for each in got['ceilings']['ceilings']}
        self.assertGreater(rates["JPEG decode, the data's"]['one']['value'], 0)
        self.assertIn("the data's files", rates['read in order, cold']['how'])
        self.assertEqual(got['ceilings']['resize']['shorter'], 256)
        self.assertEqual(got['ceilings']['data'], os.path.realpath(shards))

    def test_a_shard_or_any_folder_of_files(self):
        self.pack(CIFAR)
        shard = next((self.folder / 'out').glob('train-*.tfrecord'))
        self.doctor('--data', shard)
        other = self.folder / 'other'
        other.mkdir()
        (other / 'x.bin').write_bytes(bytes(1 << 20))
        rates = {each['name']: each
                 for each in self.doctor('--fresh', '--data', other)['ceilings']['ceilings']}
        self.assertNotIn("JPEG decode, the data's", rates)

    def test_folders_that_may_not_be_read_are_passed_over(self):
        data = self.folder / 'data'
        (data / 'lost+found').mkdir(parents=True)
        (data / 'x.bin').write_bytes(bytes(1 << 20))
        (data / 'lost+found').chmod(0)
        self.addCleanup((data / 'lost+found').chmod, 0o700)
        probe, options = RECPROBE, {}
        if os.geteuid() == 0:  # who may read it
            probe = self.folder / 'recprobe'
            shutil.copy(RECPROBE, probe)
            self.folder.chmod(0o755)
            options = {'user': 65534, 'group': 65534, 'extra_groups': []}
        done = subprocess.run([probe, 'doctor', '--no-keep', '--json', *SHORT, '--data', data],
                              capture_output=True, text=True, timeout=240, cwd='/', check=False,
                              **options)
        self.assertIn(done.returncode, (DONE, FINDING), done.stderr)
        rates = {each['name']: each for each in json.loads(done.stdout)['ceilings']['ceilings']}
        self.assertIn("the data's files", rates['read in order, cold']['how'])

    def test_ceilings_are_kept_for_a_day(self):
        first = self.doctor()['ceilings']
        self.assertEqual(self.doctor()['ceilings'], first)
        self.assertNotEqual(self.doctor('--fresh')['ceilings'], first)
        kept = next((self.folder / 'cache/recpack').glob('ceilings-*.json'))
        old = json.loads(kept.read_text())
        old['measured_at'] -= 100_000
        kept.write_text(json.dumps(old))
        self.assertGreater(self.doctor()['ceilings']['measured_at'], old['measured_at'])
        old['measured_at'] += 200_000  # the clock was set back since
        kept.write_text(json.dumps(old))
        self.assertLess(self.doctor()['ceilings']['measured_at'], old['measured_at'])
        kept.write_text('{')
        self.doctor()

    def test_nothing_is_kept_where_that_is_wished_or_cannot_be(self):
        self.doctor('--no-keep')
        self.assertFalse((self.folder / 'cache').exists())
        (self.folder / 'cache').write_text('in the way')
        done = self.probe('doctor', *SHORT, codes=(DONE, FINDING))
        self.assertIn('not kept', done.stderr)
        self.assertIn('ceilings', done.stdout)

    def test_nothing_is_left_behind(self):
        shards = self.photo_shards()
        before = sorted(os.listdir(shards))
        self.doctor('--data', shards)
        self.assertEqual(sorted(os.listdir(shards)), before)

    def test_for_people(self):
        done = self.probe('doctor', *SHORT, codes=(DONE, FINDING))
        self.assertTrue(done.stdout.startswith('findings'))
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 110, line)
        self.assertRegex(done.stdout, r'(?m)^  memcpy +[\d.]+ [GM]B/s ±\d+ %')
        self.assertRegex(done.stdout, r'(?m)^  storage +\S')

    def test_what_makes_no_sense(self):
        for words, saying in ((['--data', self.folder / 'none'], 'does not exist'),
                              (['--seconds', '0'], '--seconds'),
                              (['--seconds', 'long'], '--seconds')):
            done = self.probe('doctor', *words, codes=(FAILURE,))
            self.assertEqual(done.stdout, '')
            self.assertIn(saying, done.stderr)


@unittest.skipUnless(RECTRAIN, 'this build has no trainer')
class Stages(DoctorTest):
    def run_json(self, *words):
        done = self.probe('run', '--json', '--', RECTRAIN, 'train', self.folder / 'out',
                          '--batch-size', '8', '--devices', 'sim:2ms', '--epochs', '1000',
                          '--max-steps', '1000', *words)
        return json.loads(done.stdout.splitlines()[-1])['loader']

    def test_without_ceilings_it_says_how_to_have_some(self):
        self.pack(CIFAR)
        loader = self.run_json()
        self.assertIn('recprobe doctor', loader['ceilings'])
        self.assertEqual(loader['what_if'], [])
        for stage in loader['stages']:
            self.assertIn('unavailable', stage['ceiling'])

    def test_stages_are_shares_of_their_ceilings(self):
        self.pack(CIFAR)
        self.doctor('--data', self.folder / 'out')
        loader = self.run_json()
        stages = {stage['name']: stage for stage in loader['stages']}
        for name in 'read', 'write':
            self.assertGreater(stages[name]['ceiling_share'], 0)
            self.assertAlmostEqual(stages[name]['ceiling_share'],
                                   stages[name]['rate'] / stages[name]['ceiling'])
        self.assertIn('unavailable', stages['parse']['ceiling'])
        self.assertAlmostEqual(
            sum(stage['share'] for stage in loader['stages']) + loader['wait_for_room'], 1,
            delta=0.01)
        self.assertEqual(loader['what_if'][0]['change'], 'as it is')
        self.assertAlmostEqual(loader['what_if'][0]['training_per_s'], loader['samples_per_s'])
        done = self.probe('run', '--', RECTRAIN, 'train', self.folder / 'out', '--batch-size', '8',
                          '--devices', 'sim:2ms', '--epochs', '1000', '--max-steps', '1000')
        self.assertIn('what if', done.stderr)
        self.assertIn('ceiling here', done.stderr)


if __name__ == '__main__':
    unittest.main()

"""Tests rectrain with invalid input: it reports the error and overwrites nothing."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import unittest

from launching import clean_environment, free_port
from support import CIFAR, GOLDEN, CliTest

RECTRAIN = os.environ['RECTRAIN']


class BadTraining(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'
        self.pack(CIFAR / 'cifar-10-batches-py')

    def rectrain(self, *words, code=0):
        done = subprocess.run([RECTRAIN, *map(str, words)], capture_output=True, timeout=120,
                              env=clean_environment(), cwd=self.folder)
        err = done.stderr.decode()
        self.assertEqual(done.returncode, code, err)
        return done.stdout.decode(), err

    def train(self, *words, data=None, code=0):
        width = () if '--width' in words else ('--width', 8)
        return self.rectrain('train', data or self.out, *width, '--threads', 1, '--batch-size', 8,
                             *words, code=code)

    def refused(self, *words, saying, data=None, run=None):
        """Exit code 2 with these words; a folder of checkpoints stays as it was."""
        before = self.content(run)
        out, err = self.train(*words, data=data, code=2)
        self.assertEqual(out, '')
        for text in saying:
            self.assertIn(text, err)
        self.assertEqual(self.content(run), before)

    def content(self, run):
        return run and {path.name: path.read_bytes() for path in run.glob('*.safetensors')}

    def trained(self, *words, data=None):
        run = self.folder / 'run'
        self.train('--epochs', 1, '--schedule-epochs', 3, '--checkpoints', run, *words, data=data)
        return run

    def test_a_loss_that_is_no_number(self):
        run = self.trained()
        self.refused('--epochs', 3, '--lr', '1e30', '--checkpoints', run, '--resume', run,
                     run=run, saying=['the loss of step ', 'is not a number; the first layer',
                                      "the batch's token is recpack1."])

    def test_little_memory_is_an_error_and_no_crash(self):
        def under(megabytes, *words):
            limit = megabytes << 20
            return subprocess.run([RECTRAIN, *map(str, words)], capture_output=True, text=True, timeout=120,
                                  env=clean_environment(), cwd=self.folder, preexec_fn=lambda:
                                  resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

        if under(80, '--version').returncode != 0:
            self.skipTest('this program needs more addresses to begin with: sanitizers')
        refused = 0
        for megabytes in range(80, 900, 60):
            done = under(megabytes, 'train', self.out, '--threads', 2, '--max-steps', 1, '--batch-size', 32,
                         '--no-evaluation')
            self.assertIn(done.returncode, (0, 2), (megabytes, done.stderr))
            refused += done.returncode == 2
            if done.returncode == 2:
                self.assertRegex(done.stderr, 'memory|thread cannot be started', megabytes)
        self.assertGreater(refused, 0)

    def test_a_checkpoint_of_another_model(self):
        run = self.trained()
        for words, saying in [
                (('--model', 'alexnet'), ['resnet', 'alexnet']),
                (('--width', 16), ['width']),
                (('--classes', 11), ['classes']),
                (('--optimizer', 'adam'), ['is a checkpoint of a training by sgd, not by adam']),
                (('--seed', 5), ['seed 0, not 5'])]:
            with self.subTest(words):
                self.refused('--epochs', 3, '--checkpoints', run, '--resume', run, *words, run=run,
                             saying=[*saying, 'run'])

    def test_a_checkpoint_of_other_data(self):
        run = self.trained()
        self.run_recpack('stand-in', self.folder / 'made', '--rows', 20)
        self.pack(self.folder / 'made', out='other')
        self.refused('--epochs', 3, '--checkpoints', run, '--resume', run, run=run,
                     data=self.folder / 'other', saying=['token'])

    def test_damaged_checkpoints(self):
        run = self.trained()
        path, = run.glob('*.safetensors')
        whole = path.read_bytes()
        changed = whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:]
        for damaged in whole[:-1], whole[:100], b'', changed:
            path.write_bytes(damaged)
            self.refused('--epochs', 3, '--resume', path, run=run, saying=[path.name])

    def test_shards_of_another_shape(self):
        photos = self.folder / 'photos' / 'cat'
        photos.mkdir(parents=True)
        for i in range(20):
            shutil.copy(GOLDEN / 'image/real_420.jpg', photos / f'{i:02}.jpg')
        self.pack(photos.parent, out='photos_out')
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 100)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        run = self.trained()
        for data, words, saying in [
                ('photos_out', ('--recipe', 'cifar10-train'), ["feature 'image/encoded' has", 'raw pictures']),
                ('reviews', (), ['no picture', '--field image=']),
                ('out', ('--model', 'deepconn'), ['vocabulary'])]:
            with self.subTest(data):
                self.refused('--no-evaluation', '--checkpoints', run, *words, run=run,
                             data=self.folder / data, saying=saying)

    def test_labels_out_of_range(self):
        run = self.folder / 'run'
        run.mkdir()
        self.refused('--classes', 2, '--checkpoints', run, run=run,
                     saying=['labels', 'not in 0 to 1', 'token'])

    def test_more_ranks_than_batches(self):
        processes, port = [], free_port()
        for rank in range(3):
            environment = clean_environment(RANK=rank, WORLD_SIZE=3, MASTER_ADDR='127.0.0.1',
                                            MASTER_PORT=port)
            processes.append(subprocess.Popen(
                [RECTRAIN, 'train', self.out, '--threads', '1', '--batch-size', '32'],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        for process in processes:
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 2)
            self.assertIn('no batch of 32 for each of 3 devices', err)

    def test_sums_by_nccl_where_there_is_no_gpu(self):
        self.refused('--collective', 'nccl', saying=['cannot be summed by', 'cpu:0 is not a GPU'])
        self.refused('--collective', 'best', saying=['--collective'])

    def test_goes_on_in_the_epoch_that_its_most_steps_ended_in(self):
        run = self.folder / 'run'
        self.train('--epochs', 2, '--max-steps', 3, '--checkpoints', run)
        out, _ = self.train('--epochs', 2, '--json', '--resume', run)
        epochs = json.loads(out)['epochs']
        self.assertEqual([(epoch['epoch'], epoch['steps']) for epoch in epochs], [(0, 8), (1, 16)])
        for epoch in epochs:
            self.assertTrue(epoch['audit']['holds'])
            self.assertEqual(epoch['audit']['samples'], 64)

    def test_names_that_are_no_utf8(self):
        data = pathlib.Path(os.fsdecode(os.fsencode(self.folder) + b'/\xffout'))
        run = pathlib.Path(os.fsdecode(os.fsencode(self.folder) + b'/\xffrun'))
        shutil.copytree(self.out, data)
        self.train('--epochs', 1, '--json', '--checkpoints', run, data=data)
        out, _ = self.rectrain('eval', data, '--checkpoint', run, '--threads', 1, '--json')
        self.assertIn('\ufffdrun', json.loads(out)['checkpoint']['path'])
        sweep = ('sweep', data, '--width', 8, '--batch-size', 8, '--steps', 1, '--rounds', 1,
                 '--out', self.folder / 'sweep', '--json')
        out, _ = self.rectrain(*sweep)
        self.assertTrue(json.loads(out)['setting']['data'].endswith('\ufffdout'))
        self.rectrain(*sweep, '--resume')


if __name__ == '__main__':
    unittest.main()

"""The programs of peer_programs: each runs in its peer's environment, and does what its first line says. Their lines are
counted beside those of examples/python/programs; this half needs no peer."""
import os
import pathlib
import re
import shutil
import sys
import unittest

import numpy as np
from png_files import png
from program_files import ProgramCase, make_files
from support import CIFAR, ROOT, free_port, golden_rows, main

PEERS = ROOT / 'tests/python/peer_programs'
OURS = ROOT / 'examples/python/programs'
ENVIRONMENT = os.environ.get('RECPACK_ENVIRONMENT', '')
# Environments whose packages a program needs beside its own: they lie in the same folder.
BESIDE = {'wds': ('vision',), 'jax': ('vision', 'py')}
WIDEST = 120
# What the output of each program has, as a pattern.
EXPECTED = {
    'vision/validate': r'epoch 2: \d+ of 16 right', 'tf/random_split': r'64 and 16 of 80, 0 in both',
    'tf/filter': r'80 records, \d+ animals, \d+ of them bright; labels \[\d',
    'tf/balanced': r'records \[.*\]\nsamples \[8, 8, 8, 8, 8, 8, 8, 8, 8, 8\]',
    'vision/weighted': r'class 6: 0\.\d{3} of the samples, 0\.\d{3} of the weights',
    'tf/mixture': r'48 samples of the first data set, 16 of the second',
    'vision/two_views': r'\(4, 3, 32, 32\) \(4, 3, 32, 32\) different',
    'tf/masks': r'100% of the pixels agree\nclasses \[0, 1, 2\]',
    'vision/boxes': r'\(4, 3, 32, 32\) \(4, 2, 4\) \[\d, \d, \d, \d\]',
    'tf/csv_multilabel': r'\(2, 32, 32, 3\) \[3, 5\] \[\[1, 0, 1\], \[0, 1, 0\]\]',
    'tf/sound': r"\['\d+', '\d+', '\d+', '\d+'\] \[\d+,", 'tf/tokens': r'\(4, 6\) \[3, 6, 3, 6\] \[1, 2, 3, 0, 0, 0\]',
    'vision/mixup': r'\(16, 3, 32, 32\) \[(?:1\.0|0\.99)', 'tf/pack_arrays': r'6 \(100,\) \(8, 8\) 1 sample 4',
    'tf/class_folders': r"\(4, 32, 32, 3\) \['\w+', '\w+', '\w+', '\w+'\]", 'wds/web_dataset': r'\(2, 3, 32, 32\) \[\d, \d\]',
    'tf/audit': r'80 of 80 samples, complete: True',
    'vision/bad_records': r'80 samples\nrecord \d+ in place of \d+: .*truncated',
    'huggingface/exact_evaluation': r'\d+ of 16 are bright; the data set has 16', 'tf/cache': r'epoch 2: 2 batches',
    'vision/where_time_goes': r'(?s)cumtime.*__next__.*default_loader',
    'vision/curriculum': r'epoch 0: 20 samples\nepoch 1: 40 samples\nepoch 2: 80 samples',
    'vision/train': r'epoch 1: loss \d+\.\d+, \d of 4 right', 'vision/accumulate': r'20 batches, 5 steps',
    'vision/distributed': r'epoch 1: 80 samples on 2 ranks', 'vision/map_style': r'(?:\(16, 3, 32, 32\) \(16,\)\n){5}',
    'vision/transforms': r'\(4, 3, 32, 32\) torch\.float32 \[\d, \d, \d, \d\]',
    'vision/finetune': r'loss \d+\.\d+, 1026 variables trained', 'vision/infinite': r'9 1 4\n$',
    'lightning/fit': r'10 steps, accuracy \d\.\d\d', 'huggingface/trainer': r'10 steps, evaluation loss \d',
    'huggingface/accelerate_loop': r'5 steps, loss \d', 'jax/train': r'epoch 1: loss \d+\.\d+',
    'jax/sharded': r'on devices \{0: \(4, 32, 32, 3\), 1: \(4, 32, 32, 3\), 2:', 'tf/keras_fit': r'accuracy \d\.\d+ of 16',
    'huggingface/pack_dataset': r"\(4, 3, 224, 224\) \['\w+', '\w+', '\w+', '\w+'\]",
    'tf/dataset': r'(?:\(16, 32, 32, 3\) \(16,\)\n){5}'}
RESUMED = 'tf/resume', 'torchtitan/checkpoint'
RANKS = {'vision/distributed': 2, 'huggingface/exact_evaluation': 3}  # processes that torchrun starts


def site_of(name):
    """Where the packages of another environment lie."""
    return next((pathlib.Path(sys.prefix).parent / name / 'lib').glob('python3*')) / 'site-packages'


@unittest.skipUnless(ENVIRONMENT and (PEERS / ENVIRONMENT).is_dir(), 'no peer here')
class Programs(ProgramCase):
    def setUp(self):
        super().setUp()
        make_files(self.folder)
        shutil.copytree(CIFAR, self.folder / 'whole/cifar-10-batches-py')
        for split, names in ('train', ('train', 'validation')), ('test', ('eval',)):
            for number, (pixels, label) in enumerate(row for name in names for row in golden_rows(name)):
                path = self.folder / 'whole' / split / str(label) / f'{number}.png'
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(png(np.frombuffer(pixels, 'u1').reshape(3, 32, 32).transpose(1, 2, 0)))
        # The golden CIFAR-10 is a few records of each file: torchvision must not look at checksums.
        (self.folder / 'site').mkdir()
        (self.folder / 'site/sitecustomize.py').write_text('from torchvision.datasets import cifar\n'
                                                           'cifar.check_integrity = lambda *_: True\n')

    def run_program(self, name, *words):
        program = PEERS / f'{name}.py'
        command = [sys.executable, '-B', program, *words]
        if name in RANKS:
            command[1:2] = ['-m', 'torch.distributed.run', '--nproc-per-node', RANKS[name], '--master-port', free_port()]
        path = [site_of(other) for other in BESIDE.get(ENVIRONMENT, ())]
        if 'CIFAR10' in program.read_text('utf-8'):
            path.append(self.folder / 'site')
        out = self.output_of(command, PYTHONPATH=os.pathsep.join(map(str, path)))
        return re.sub(r'Found .*\n|Using .*\n', '', out)  # what Keras says of a folder

    def test_each_program(self):
        for name in sorted(f'{ENVIRONMENT}/{path.stem}' for path in (PEERS / ENVIRONMENT).glob('*.py')):
            with self.subTest(name):
                shutil.rmtree(self.folder / 'cifar', ignore_errors=True)  # which one of them damages
                shutil.copytree(self.folder / 'whole', self.folder / 'cifar')
                if name in RESUMED:
                    whole = self.run_program(name)
                    shutil.rmtree(self.folder / 'state', ignore_errors=True)
                    (self.folder / 'checkpoint.pt').unlink(missing_ok=True)
                    self.assertEqual(self.run_program(name, '--stop') + self.run_program(name), whole)
                    self.assertEqual(len(whole.splitlines()), 10)
                else:
                    self.assertRegex(self.run_program(name), EXPECTED[name])


class Lines(unittest.TestCase):
    @staticmethod
    def count(path):
        """Lines that are neither blank nor a comment nor the docstring, which is the first line."""
        lines = [line.strip() for line in path.read_text('utf-8').splitlines()[1:]]
        return sum(1 for line in lines if line and not line.startswith('#'))

    def test_the_table_has_every_pair_and_its_lines(self):
        row = r'^\| \[.+\]\(\.\./\.\./\.\./examples/python/programs/(\S+)\.py\) \| \[.+\]\((\S+)\.py\) \| (\d+) \| (\d+) \| .+ \|$'
        rows = re.findall(row, (PEERS / 'README.md').read_text('utf-8'), re.MULTILINE)
        programs = [sorted(str(path.relative_to(folder).with_suffix('')) for path in folder.glob('*/*.py'))
                    for folder in (OURS, PEERS)]
        self.assertEqual([sorted(names) for names in list(zip(*rows))[:2]], programs)
        self.assertEqual(programs[1], sorted({*EXPECTED, *RESUMED}))
        for ours, theirs, their_lines, our_lines in rows:
            with self.subTest(ours):
                # A program may not have the name of a package that it imports.
                self.assertEqual(*(pathlib.Path(name).name.replace('_', '') for name in (ours, theirs)))
                counts = self.count(PEERS / f'{theirs}.py'), self.count(OURS / f'{ours}.py')
                self.assertEqual((int(their_lines), int(our_lines)), counts)
                self.assertLessEqual(counts[1], counts[0], 'ours is longer')

    def test_they_are_written_alike(self):
        for path in (*PEERS.glob('*/*.py'), *OURS.glob('*/*.py')):
            with self.subTest(path.name):
                lines = path.read_text('utf-8').splitlines()
                self.assertRegex(lines[0], r'^"""[A-Z].*\S"""$')
                self.assertLessEqual(max(map(len, lines)), WIDEST)
                self.assertNotIn(';', re.sub(r'"[^"]*"', '', '\n'.join(lines)))


if __name__ == '__main__':
    main()

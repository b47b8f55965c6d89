"""The programs of examples/python/programs: each runs, is short, and does what its first line says."""
import contextlib
import os
import re
import shutil
import sys
import unittest

from program_files import ProgramCase, make_files
from support import CIFAR, ROOT, main, pack

PROGRAMS = ROOT / 'examples/python/programs'
ENVIRONMENT = os.environ.get('RECPACK_ENVIRONMENT', '')
FOLDER = {'vision': 'torch', 'tf': 'tensorflow'}.get(ENVIRONMENT, ENVIRONMENT)
FOLDER = FOLDER if (PROGRAMS / FOLDER).is_dir() and FOLDER else 'numpy'
MOST_LINES = 40
# What the output of each program has, as a pattern.
EXPECTED = {
    'numpy/validate': r'epoch 2: \d+ of 16 right', 'numpy/random_split': r'(\d+) and (\d+) of 64, 0 in both',
    'numpy/filter': r'64 records, \d+ animals, \d+ of them bright; labels \[\d',
    'numpy/balanced': r'samples \[(\d), \1, \1, \1, \1, \1, \1, \1, \1, \1\]',
    'numpy/weighted': r'class 6: 0\.5\d+ of the samples, 0\.5\d+ of', 'numpy/mixture': r'66 samples of the first data set, 22 of the second',
    'numpy/two_views': r'\(4, 3, 32, 32\) \(4, 3, 32, 32\) different', 'numpy/masks': r'classes \[0, 1, 2\]',
    'numpy/boxes': r'\(4, 32, 32, 3\) \(4, 5, 4\) \[\d, \d, \d, \d\]',
    'numpy/csv_multilabel': r'\[\[1\.0, 0\.0, 1\.0\], \[0\.0, 1\.0, 0\.0\]\]', 'numpy/sound': r"\['\d+', '\d+', '\d+', '\d+'\] \[\d+,",
    'numpy/tokens': r'\(4, 6\) \[3, 6, 3, 6\] \[1, 2, 3, 0, 0, 0\]', 'numpy/mixup': r'\(16, 3, 32, 32\) \[1\.0, 1\.0, 1\.0\]',
    'numpy/pack_arrays': r'6 \(100,\) \(8, 8\) \[1\] sample 4',
    'numpy/class_folders': r"\(4, 3, 32, 32\) \['\w+', '\w+', '\w+', '\w+'\]", 'numpy/webdataset': r'\(2, 3, 32, 32\) \[\d, \d\]',
    'numpy/audit': r'64 of 64 samples, complete: True', 'numpy/bad_records': r'64 samples\nrecord \d+ in place of \d+: .*CRC',
    'numpy/exact_evaluation': r'\d+ of 16 are bright; the data set has 16',
    'numpy/cache': r'epoch 2: 2 batches, 8 images decoded', 'numpy/where_time_goes': r'the training waited \d+\.\d+ s',
    'numpy/curriculum': r'epoch 0: 16 samples\nepoch 1: 32 samples\nepoch 2: 64 samples',
    'torch/train': r'epoch 1: loss \d+\.\d+, \d of 4 right', 'torch/accumulate': r'16 batches, 4 steps',
    'torch/distributed': r'epoch 1: 64 samples on 2 ranks', 'torch/map_style': r'(?:\(16, 3, 32, 32\) \(16,\)\n){4}',
    'torch/transforms': r'\(4, 3, 32, 32\) torch\.float32 \[\d, \d, \d, \d\]',
    'torch/finetune': r'loss \d+\.\d+, 1026 variables trained', 'torch/infinite': r'9 2 1$',
    'lightning/fit': r'8 steps, accuracy \d\.\d\d', 'huggingface/trainer': r'8 steps, evaluation loss \d',
    'huggingface/accelerate_loop': r'4 steps, loss \d',
    'huggingface/pack_dataset': r"\(4, 3, 224, 224\) \['\w+', '\w+', '\w+', '\w+'\]", 'jax/train': r'epoch 1: loss \d+\.\d+',
    'jax/sharded': r'on devices \{0: \(4, 3, 32, 32\), 1: \(4, 3, 32, 32\), 2:', 'tensorflow/keras_fit': r'accuracy \d\.\d+ of 16',
    'tensorflow/dataset': r'(?:\(16, 32, 32, 3\) \(16,\)\n){4}'}
RESUMED = 'numpy/resume', 'torch/checkpoint'


@contextlib.contextmanager
def one_processor():
    """For programs that count: two threads may decode the same picture, of two epochs, before it is kept."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Programs(ProgramCase):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'whole')
        make_files(self.folder)

    def run_program(self, name, *words):
        command = [sys.executable, '-B', PROGRAMS / f'{name}.py', *words]
        if name == 'torch/distributed':
            command[1:2] = ['-m', 'torch.distributed.run', '--nproc-per-node', '2', '--master-port', '29611']
        return self.output_of(command)

    def test_each_program(self):
        names = sorted(path.stem for path in (PROGRAMS / FOLDER).glob('*.py'))
        for name in (f'{FOLDER}/{stem}' for stem in names):
            with self.subTest(name):
                shutil.rmtree(self.folder / 'shards', ignore_errors=True)  # which one of them damages
                shutil.copytree(self.folder / 'whole', self.folder / 'shards')
                if name in RESUMED:
                    whole = self.run_program(name)
                    (self.folder / 'state.json').unlink(missing_ok=True)
                    (self.folder / 'checkpoint.pt').unlink(missing_ok=True)
                    self.assertEqual(self.run_program(name, '--stop') + self.run_program(name), whole)
                    self.assertGreaterEqual(len(whole.splitlines()), 8)
                else:
                    with one_processor() if name == 'numpy/cache' else contextlib.nullcontext():
                        self.assertRegex(self.run_program(name), EXPECTED[name])


class Files(unittest.TestCase):
    def test_they_are_short_and_listed(self):
        files = sorted(PROGRAMS.glob('*/*.py'))
        self.assertGreaterEqual(len(files), 30)
        listed = re.findall(r'\]\((\S+\.py)\)', (PROGRAMS / 'README.md').read_text('utf-8'))
        self.assertEqual(sorted(listed), [str(path.relative_to(PROGRAMS)) for path in files])
        for path in files:
            lines = path.read_text('utf-8').splitlines()
            self.assertLessEqual(len(lines), MOST_LINES, path)
            self.assertRegex(lines[0], r'^"""[A-Z].*\S"""$')
            name = str(path.relative_to(PROGRAMS).with_suffix(''))
            self.assertIn(name, {*EXPECTED, *RESUMED})


if __name__ == '__main__':
    main()

"""The programs of docs/guide/migration.md, before and after, each where its libraries are.

RECPACK_ENVIRONMENT names the environment that runs this (bench/peers/setup.sh): its programs are
run.
"""
import os
import re
import shutil
import tarfile

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'
import recpack_io
from recpack_io.migrate import migrate
from support import GOLDEN, ROOT, InFolder, main, recpack

PAGE = (ROOT / 'docs' / 'guide' / 'migration.md').read_text()
# By title of the section: where its programs run. `vision` has the packages of `wds` behind its own.
PLACES = {'torchvision: ImageFolder and DataLoader': ('vision', 'vision'),
          'tf.data: TFRecordDataset': ('tf', 'tf'), 'WebDataset': ('vision', 'vision'),
          'FFCV': ('ffcv', 'vision')}
HERE = os.environ['RECPACK_ENVIRONMENT']
PHOTOS = ('real_420', 'real_420b', 'real_422', 'real_444', 'real_icc', 'progressive',
          'orientation1', 'prime', 'sampled_440')
CLASSES = ('birds', 'cats')


def programs():
    """{title: (before, after)} of the page."""
    found = {}
    for title, rest in re.findall(r'^## ([^\n]*)\n(.*?)(?=^## |\Z)', PAGE, re.M | re.S):
        block = re.search(r'^```diff\n(.*?)^```', rest, re.M | re.S)
        if block is None:  # of `recpack migrate`
            continue
        lines = block[1].splitlines()
        found[title] = ['\n'.join(line[1:] for line in lines if line[:1] != gone) for gone in '+-']
    return found


class Migration(InFolder):
    def setUp(self):
        """36 photos: class folders, shards, tars; what the programs say they read."""
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.samples = [(label, number, GOLDEN / 'image' / f'{name}.jpg')
                        for label in range(len(CLASSES)) for number, name in enumerate(PHOTOS * 2)]
        for label, number, photo in self.samples:
            folder = self.folder / 'photos' / 'train' / CLASSES[label]
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(photo, folder / f'{number:02}.jpg')
        recpack('pack', 'photos', 'shards')
        self.write_tars()

    def write_tars(self):
        (self.folder / 'tars').mkdir()
        for part in range(2):
            with tarfile.open(f'tars/photos-{part:03}.tar', 'w') as tar:
                for label, number, photo in self.samples[part::2]:
                    key = self.folder / f'{label}{number:02}'
                    key.with_suffix('.jpg').write_bytes(photo.read_bytes())
                    key.with_suffix('.cls').write_text(str(label))
                    for suffix in '.jpg', '.cls':
                        tar.add(key.with_suffix(suffix), key.name + suffix)

    def write_beton(self):
        from ffcv.fields import IntField, RGBImageField
        from ffcv.writer import DatasetWriter
        from torchvision.datasets import ImageFolder
        fields = {'image': RGBImageField(max_resolution=256), 'label': IntField()}
        DatasetWriter('photos.beton', fields, num_workers=1).from_indexed_dataset(
            ImageFolder('photos/train'))

    def steps(self, program):
        """The shapes and labels that its training gets."""
        taken = []

        def step(images, labels):
            kind = getattr(images.dtype, 'name', None) or str(images.dtype).split('.')[-1]
            taken.append((tuple(images.shape), kind, [int(label) for label in labels]))
        exec(compile(program, 'docs/guide/migration.md', 'exec'), {'step': step, '__name__': '__main__'})
        return taken

    def check(self, title, steps):
        channels_last = 'tf.data' in title
        keeps = title == 'WebDataset'
        self.assertEqual(len(steps), 2 * (5 if keeps else 4))
        for shape, dtype, labels in steps:
            size = len(labels)
            self.assertEqual(shape, (size, 224, 224, 3) if channels_last else (size, 3, 224, 224))
            self.assertEqual(dtype, 'float32')
            self.assertIn(size, {8, 4} if keeps else {8})
            self.assertLessEqual(set(labels), {0, 1})
        self.assertEqual({label for *_, labels in steps for label in labels}, {0, 1})
        if keeps:
            seen = [label for *_, labels in steps[:5] for label in labels]
            self.assertEqual(sorted(seen), [0] * 18 + [1] * 18)

    def test_the_page_has_the_programs(self):
        self.assertEqual(set(programs()), set(PLACES))
        self.assertIn(HERE, {place for places in PLACES.values() for place in places})

    def test_programs_run(self):
        for title, texts in programs().items():
            for when, place, text in zip(('before', 'after'), PLACES[title], texts, strict=True):
                if place == HERE:
                    with self.subTest(f'{title}, {when}'):
                        if place == 'ffcv':
                            self.write_beton()
                        print(f'   {title}, {when}', flush=True)
                        self.check(title, self.steps(text))

    def test_what_recpack_migrate_makes_runs(self):
        """On the page's program, and on one whose transform is called; eval pixels are equal."""
        if HERE != 'vision':
            return
        before, _ = programs()['torchvision: ImageFolder and DataLoader']
        result = migrate(before)
        self.assertEqual(result.left, [])
        self.check('torchvision', self.steps(result.text))
        called = before.replace('transforms.RandomHorizontalFlip()', 'transforms.ColorJitter(0.2)')
        result = migrate(called)
        self.assertIn('then=transform', result.text)
        self.check('torchvision', self.steps(result.text))
        evaluation = re.sub(r'transforms.RandomResizedCrop.*\n *transforms.RandomHorizontalFlip.*',
                            'transforms.Resize(256), transforms.CenterCrop(224),', before)
        evaluation = evaluation.replace('shuffle=True', 'shuffle=False').replace('step(', 'whole(')
        result = migrate(evaluation)
        self.assertIn('"imagenet-eval"', result.text)
        made = []
        for text in evaluation, result.text:
            batches = []
            exec(compile(text, 'migrated', 'exec'), {'whole': lambda *batch: batches.append(batch)})
            made.append(batches)
        for (images, labels), (ours, our_labels) in zip(*made, strict=True):
            self.assertEqual(labels.tolist(), our_labels.tolist())
            self.assertLess((images - ours).abs().mean().item(), 0.01)

    def test_a_diff_is_a_few_lines(self):
        for title, (before, after) in programs().items():
            kept = set(before.splitlines()) & set(after.splitlines())
            come = [line for line in after.splitlines() if line and line not in kept]
            self.assertLessEqual(len(come), 8, title)


if __name__ == '__main__':
    main()

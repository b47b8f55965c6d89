"""Tests rectrain on data sets of encoded images: recipe, sizes and classes are chosen from the data."""
import json
import os
import shutil
import subprocess
import tarfile
import unittest

from support import CIFAR, FAILURE, GOLDEN, CliTest

RECTRAIN = os.environ['RECTRAIN']
PICTURES = [GOLDEN / 'image' / name for name in ('real_420.jpg', 'rgb.png', 'gray.png', 'exif6.png')]


class TrainImages(CliTest):
    def setUp(self):
        super().setUp()
        self.photos = self.folder / 'photos'
        for split, count in ('train', 8), ('val', 4):
            for i in range(count):
                folder = self.photos / split / ('ant', 'bee')[i % 2]
                folder.mkdir(parents=True, exist_ok=True)
                picture = PICTURES[i % len(PICTURES)]
                shutil.copy(picture, folder / f'{i}{picture.suffix}')

    def rectrain(self, *words, code=0):
        done = subprocess.run([RECTRAIN, *map(str, words)], capture_output=True, text=True, timeout=240, cwd=self.folder)
        self.assertEqual(done.returncode, code, f'{words}\n{done.stdout}\n{done.stderr}')
        return done

    def train(self, data, *words, run='run', **more):
        """One step of a small network; returns the model's options that the checkpoint tells."""
        shutil.rmtree(self.folder / run, ignore_errors=True)
        self.rectrain('train', data, '--threads', 1, '--width', 4, '--batch-size', 4, '--epochs', 1, '--max-steps', 1,
                      '--checkpoints', run, *words, **more)
        return self.told(run)

    def told(self, run='run'):
        content, = [path.read_bytes() for path in (self.folder / run).glob('*.safetensors')]
        told = json.loads(content[8:8 + int.from_bytes(content[:8], 'little')])['__metadata__']
        return {**json.loads(told['model_options']), 'eval_recipe': told['eval_recipe'], 'model': told['model']}

    def refused(self, data, *words, saying):
        done = self.rectrain('train', data, '--threads', 1, '--batch-size', 2, *words, code=FAILURE)
        for text in [saying] if isinstance(saying, str) else saying:
            self.assertIn(text, done.stderr)

    def test_sizes_are_the_datas(self):
        expected = {'classes': 2, 'image': 224, 'stem': 7, 'width': 4, 'eval_recipe': 'imagenet-eval', 'model': 'resnet'}
        self.assertEqual(self.train('photos', '--no-evaluation'), expected)
        self.pack(self.photos, out='shards')
        self.assertEqual(self.train('shards', '--no-evaluation'), expected)
        self.pack(CIFAR / 'cifar-10-batches-py', out='cifar')
        self.assertEqual(self.train('cifar', '--no-evaluation'),
                         {'classes': 10, 'image': 32, 'width': 4, 'eval_recipe': 'cifar10-eval', 'model': 'resnet'})

    def test_models_and_sizes_can_be_named(self):
        told = self.train('photos', '--model', 'resnet50', '--image-size', 40, '--classes', 5)
        self.assertEqual((told['depth'], told['image'], told['classes'], told.get('stem', 3)), (50, 40, 5, 3))
        told = self.train('photos', '--model', 'resnet34', '--image-size', 40, '--stem', 7, '--no-evaluation')
        self.assertEqual((told['depth'], told['stem']), (34, 7))
        told = self.train('photos', '--model', 'alexnet', '--dense', 8, '--image-size', 40, '--no-evaluation')
        self.assertEqual((told['model'], told['image'], told['classes']), ('alexnet', 40, 2))

    def test_trains_evaluates_and_classifies(self):
        self.pack(self.photos, out='shards')
        done = self.rectrain('train', 'shards', '--threads', 1, '--width', 4, '--image-size', 40, '--batch-size', 4,
                             '--epochs', 2, '--checkpoints', 'run', '--recipe', 'imagenet-train-randaugment',
                             '--order', 'sequential', '--prefetch', 3, '--cache', 'pictures:10MB', '--json')
        scores = [epoch['evaluation'] for epoch in json.loads(done.stdout)['epochs']]
        self.assertEqual([score['samples'] for score in scores], [4, 4])
        found = json.loads(self.rectrain('eval', 'shards', '--checkpoint', 'run', '--threads', 1, '--json').stdout)
        self.assertAlmostEqual(found['loss'], scores[-1]['loss'], places=4)
        again = self.rectrain('eval', 'photos', '--split', 'validation', '--checkpoint', 'run', '--threads', 1, '--json')
        self.assertAlmostEqual(json.loads(again.stdout)['loss'], scores[-1]['loss'], places=4)
        line = self.rectrain('eval', 'shards', '--checkpoint', 'run', '--image', PICTURES[0]).stdout
        self.assertRegex(line, r'real_420.jpg: (ant|bee) \d+\.\d+ %, (ant|bee) ')
        integers = self.rectrain('eval', 'shards', '--checkpoint', 'run', '--int8', '--batch-size', 4, '--json')
        self.assertEqual(json.loads(integers.stdout)['int8']['samples'], 4)

    def test_order_and_cache_change_speed_alone(self):
        self.pack(self.photos, out='shards')

        def losses(*words):
            done = self.rectrain('train', 'shards', '--threads', 1, '--width', 4, '--image-size', 40, '--batch-size', 2,
                                 '--epochs', 2, '--no-evaluation', '--json', *words)
            return [epoch['train']['loss'] for epoch in json.loads(done.stdout)['epochs']]
        plain = losses()
        self.assertEqual(losses('--cache', 'records:1MB', '--prefetch', 8, '--loader-threads', 2), plain)
        self.assertNotEqual(losses('--order', 'sequential'), plain)

    def test_splits_and_features_by_other_names(self):
        with tarfile.open(self.folder / 'x.tar', 'w') as tar:
            for i, picture in enumerate(PICTURES * 2):
                label = self.folder / f'{i}.cls'
                label.write_text(str(1 + i % 3))
                tar.add(picture, f'{i}.photo')
                tar.add(label, f'{i}.kind')
        words = '--field', 'image=photo,label=kind', '--label-offset', 1, '--image-size', 40
        self.refused('x.tar', *words, '--no-evaluation', saying=['no names of classes', '--classes'])
        told = self.train('x.tar', *words, '--classes', 3, '--no-evaluation')
        self.assertEqual(told['classes'], 3)
        found = self.rectrain('eval', 'x.tar', '--checkpoint', 'run', *words[:4], '--split', 'train', '--threads', 1,
                              '--json')
        self.assertEqual(json.loads(found.stdout)['samples'], 8)
        self.refused('x.tar', *words[:2], '--classes', 3, '--image-size', 40, '--no-evaluation',
                     saying='labels of step 0')  # without the offset they are 1 to 3
        self.train('photos', '--split', 'validation', '--eval-split', 'train', '--image-size', 40, '--eval-recipe',
                   'imagenet-eval')

    def test_one_damaged_picture_does_not_decide(self):
        first = next((self.photos / 'train/ant').iterdir())
        first.write_bytes(first.read_bytes()[:20])
        told = self.train('photos', '--image-size', 40, '--no-evaluation', '--on-bad-record', 'substitute', '--max-bad', '50%')
        self.assertEqual(told['eval_recipe'], 'imagenet-eval')

    def test_says_what_it_cannot_read(self):
        self.refused('photos', '--recipe', 'cifar10-train', '--image-size', 40, '--no-evaluation',
                     saying='makes images of 32 x 32, but the network reads 40 x 40')
        self.refused('photos', '--recipe', 'imagenet', '--no-evaluation', saying="there is no recipe 'imagenet'")
        self.refused('photos', '--field', 'image=photo', '--no-evaluation', saying='no fields to map')
        self.refused('photos', '--eval-split', 'test', saying="no split 'test'")
        folder = self.folder / 'text/ant'
        folder.mkdir(parents=True)
        for i in range(2):
            (folder / f'{i}.jpg').write_bytes(b'no picture')
        self.refused('text', '--no-evaluation', saying=['10 bytes in no known format', 'JPEG, PNG, WebP, AVIF, TIFF, BMP or GIF'])


if __name__ == '__main__':
    unittest.main()

"""Tests rectrain eval: scores, image classification, int8 and errors."""
import json
import os
import re
import shutil
import struct
import subprocess
import unittest
import zlib

from support import CIFAR, GOLDEN, HAS_BF16, CliTest

RECTRAIN = os.environ['RECTRAIN']
NAMES = [f'thing {i}' for i in range(10)]


class Eval(CliTest):
    def setUp(self):
        super().setUp()
        self.pack(CIFAR / 'cifar-10-batches-py')
        self.trained = self.rectrain('train', 'out', '--width', '8', '--threads', '1', '--epochs',
                                     '2', '--batch-size', '8', '--checkpoints', 'run1', '--json')
        for name in 'real_420.jpg', 'rgb.png', 'gray.png', 'exif6.png':
            shutil.copy(GOLDEN / 'image' / name, self.folder)
        (self.folder / 'names.txt').write_text('\n'.join(NAMES) + '\n')

    def rectrain(self, *words, code=0):
        done = subprocess.run([RECTRAIN, *map(str, words)], capture_output=True, text=True,
                              timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, code, f'{words}\n{done.stdout}\n{done.stderr}')
        return done

    def eval(self, *words):
        done = self.rectrain('eval', *words, '--checkpoint', 'run1', '--threads', '1', '--json')
        return json.loads(done.stdout)

    def test_gives_the_score_of_the_training(self):
        expected = json.loads(self.trained.stdout)['epochs'][-1]['evaluation']
        found = self.eval('out', '--loader-threads', '2')
        self.assertEqual((found['accuracy'], found['samples']),
                         (expected['accuracy'], expected['samples']))
        self.assertAlmostEqual(found['loss'], expected['loss'], places=4)
        self.assertEqual(found['checkpoint']['model'], 'resnet')
        self.assertEqual(found['checkpoint']['step'], 16)
        self.assertGreater(found['samples_per_s'], 0)
        again = self.eval('out', '--split', 'eval', '--batch-size', '7', '--recipe', 'cifar10-eval')
        self.assertAlmostEqual(again['loss'], expected['loss'], places=4)
        self.assertEqual(self.eval('out', '--split', 'train')['samples'], 64)
        if HAS_BF16:
            rounded = self.eval('out', '--dtype', 'bf16')
            self.assertAlmostEqual(rounded['loss'], expected['loss'], delta=0.1)
        else:
            refused = self.rectrain('eval', 'out', '--checkpoint', 'run1', '--dtype', 'bf16', code=2)
            self.assertIn('choose --dtype f32', refused.stderr)

    def test_calibrates_once(self):
        found = self.eval('out', '--int8', '--save-ranges', 'ranges.json', '--calibration-batches', '2', '--batch-size', '8')
        again = self.eval('out', '--int8', '--ranges', 'ranges.json', '--batch-size', '8')
        for name in ('loss', 'accuracy', 'samples'):
            self.assertEqual(again['int8'][name], found['int8'][name])
        self.assertEqual(again['calibrated_on'], 16)
        whole = self.eval('--image', 'real_420.jpg')['images'][0]['classes']
        integers = self.eval('--int8', '--ranges', 'ranges.json', '--image', 'real_420.jpg')['images'][0]['classes']
        here = self.eval('out', '--int8', '--image', 'real_420.jpg')['images'][0]['classes']
        self.assertNotEqual(integers, whole)
        for classes in integers, here:
            self.assertAlmostEqual(classes[0]['probability'], whole[0]['probability'], delta=0.1)

    def pack_five_classes(self):
        for i in range(5):
            (self.folder / 'pictures' / f'class{i}').mkdir(parents=True)
            for name in 'a.png', 'b.png':
                shutil.copy(GOLDEN / 'image' / 'rgb.png', self.folder / 'pictures' / f'class{i}' / name)
        self.pack(self.folder / 'pictures', out='small')

    def test_a_network_of_another_program(self):
        network = GOLDEN / 'onnx' / 'residual.onnx'  # of 5 classes, and images of 16 x 16
        found = json.loads(self.rectrain('eval', '--checkpoint', network, '--image', 'real_420.jpg', '--top', '5',
                                         '--recipe', 'imagenet-eval', '--threads', '1', '--json').stdout)
        self.assertEqual(found['checkpoint']['model'], 'onnx')
        self.assertAlmostEqual(sum(each['probability'] for each in found['images'][0]['classes']), 1, places=5)
        self.pack_five_classes()
        found = json.loads(self.rectrain('eval', 'small', '--checkpoint', network, '--int8', '--split', 'train', '--recipe',
                                         'imagenet-eval', '--batch-size', '5', '--threads', '1', '--json').stdout)
        self.assertEqual((found['f32']['samples'], found['f32']['accuracy']), (10, 0.2))  # all are the same picture
        self.assertTrue(0 < found['logit_error'] < 0.1, found)
        (self.folder / 'other.onnx').write_bytes(network.read_bytes().replace(b'"\x04Relu', b'"\x04Tanh'))
        done = self.rectrain('eval', '--checkpoint', 'other.onnx', '--image', 'rgb.png', code=2)
        self.assertRegex(done.stderr, r"^rectrain: other.onnx: the node '/2/Relu' \(Tanh\) is of an operation that")

    def test_refuses_ranges_of_another_network(self):
        self.eval('out', '--int8', '--save-ranges', 'ranges.json', '--batch-size', '8')
        good = json.loads((self.folder / 'ranges.json').read_text())
        self.rectrain('train', 'out', '--width', '8', '--threads', '1', '--epochs', '1', '--batch-size', '8', '--checkpoints',
                      'run2')
        done = self.rectrain('eval', 'out', '--checkpoint', 'run2', '--int8', '--ranges', 'ranges.json', code=2)
        self.assertIn('not of this checkpoint', done.stderr)
        for change, saying in (({'format': 'other'}, 'not a file of int8 ranges'), ({'version': 2}, 'another version'),
                               ({'ranges': [-1]}, '"ranges"'), ({'ranges': good['ranges'][1:]}, 'not of this checkpoint'),
                               ({'step': 'x'}, '"step"')):
            (self.folder / 'bad.json').write_text(json.dumps(good | change))
            done = self.rectrain('eval', 'out', '--checkpoint', 'run1', '--int8', '--ranges', 'bad.json', code=2)
            self.assertIn(saying, done.stderr)
            self.assertIn('bad.json', done.stderr)
        (self.folder / 'bad.json').write_text('[' * 100000)
        self.rectrain('eval', 'out', '--checkpoint', 'run1', '--int8', '--ranges', 'bad.json', code=2)
        done = self.rectrain('eval', '--checkpoint', 'run1', '--int8', '--image', 'rgb.png', code=2)
        self.assertIn('nothing to calibrate', done.stderr)

    def test_prints_a_line(self):
        done = self.rectrain('eval', 'out', '--checkpoint', 'run1')
        self.assertRegex(done.stdout, r'^f32: loss \d+\.\d+, accuracy \d+\.\d+ %; 16 samples, \d+ sam')
        self.assertIn('run1/step-00000016.safetensors: resnet, step 16', done.stderr)

    def test_a_split_that_lacks_a_shard_is_not_passed_over_for_the_next(self):
        shard, = (self.folder / 'out').glob('eval-*.tfrecord')
        self.assertTrue(list((self.folder / 'out').glob('validation-*.tfrecord')))
        shard.unlink()
        done = self.rectrain('eval', 'out', '--checkpoint', 'run1', code=2)
        self.assertIn(shard.name, done.stderr)

    def test_integers_beside_floats(self):
        found = self.eval('out', '--int8', '--calibration-batches', '3', '--batch-size', '8')
        self.assertEqual(found['calibrated_on'], 24)
        self.assertEqual(found['int8']['samples'], 16)
        self.assertAlmostEqual(found['int8']['loss'], found['f32']['loss'], delta=0.3)
        self.assertGreaterEqual(found['same_class'], 12)
        self.assertAlmostEqual(found['f32_folded']['loss'], found['f32']['loss'], places=4)
        self.assertEqual(found['f32_folded']['accuracy'], found['f32']['accuracy'])
        self.assertGreater(found['ratio'], 0)
        self.assertGreater(found['ratio_to_folded'], 0)
        other = self.eval('out', '--int8', '--calibration-split', 'validation', '--batch-size', '8')
        self.assertEqual(other['calibrated_on'], 16)
        done = self.rectrain('eval', 'out', '--checkpoint', 'run1', '--int8', '--batch-size', '8')
        self.assertEqual([line.split(':')[0] for line in done.stdout.splitlines()],
                         ['f32', 'f32, batch norm folded', 'int8', 'int8/f32'])
        self.assertIn(', int8/folded: ', done.stdout)

    def test_integers_calibrated_by_a_percentile(self):
        def int8(*words):
            found = self.eval('out', '--int8', '--batch-size', '8', *words)
            return found['int8']['loss'], found['calibration_percentile']
        (largest, all_of_them), (cut, most_of_them) = int8(), int8('--calibration', 'percentile')
        self.assertEqual((all_of_them, most_of_them), (100, 99.99))
        half, _ = int8('--calibration', 'percentile', '--calibration-percentile', '80')
        self.assertNotEqual(half, largest)
        self.assertLess(abs(cut - largest), abs(half - largest))
        self.assertEqual(int8('--calibration', 'max'), (largest, 100))

    def test_classes_of_pictures(self):
        images = self.eval('--image', 'real_420.jpg', 'rgb.png', 'gray.png', '--top', '10')['images']
        self.assertEqual([i['image'] for i in images], ['real_420.jpg', 'rgb.png', 'gray.png'])
        for image in images:
            shares = [c['probability'] for c in image['classes']]
            self.assertAlmostEqual(sum(shares), 1, places=6)
            self.assertEqual(shares, sorted(shares, reverse=True))
            self.assertEqual({c['class'] for c in image['classes']}, set(range(10)))
        named = self.eval('--image', 'real_420.jpg', '--names', 'names.txt')['images'][0]['classes']
        self.assertEqual(len(named), 3)
        for found, expected in zip(named, images[0]['classes']):
            self.assertEqual(found['class'], expected['class'])
            self.assertEqual(found['name'], NAMES[found['class']])
        done = self.rectrain('eval', '--checkpoint', 'run1', '--image', 'rgb.png')
        self.assertRegex(done.stdout, r'^rgb.png: class \d [\d.]+ %, class \d [\d.]+ %, class')

    def test_names_of_the_data_set(self):
        text = (self.folder / 'out/manifest.json').read_text()
        manifest = json.loads(text)
        manifest['class_names'] = NAMES
        (self.folder / 'out/manifest.json').write_text(json.dumps(manifest))
        classes = self.eval('out', '--image', 'rgb.png')['images'][0]['classes']
        self.assertEqual(classes[0]['name'], NAMES[classes[0]['class']])

    def test_a_picture_of_one_colour_has_the_same_class_in_any_size(self):
        found = self.eval('--image', self.write_png(bytes([200] * 3072)))['images'][0]['classes'][0]
        large = self.write_png(bytes([200] * 3 * 96 * 64), 96, 64)
        again = self.eval('--image', large)['images'][0]['classes'][0]
        self.assertEqual(found['class'], again['class'])
        self.assertAlmostEqual(found['probability'], again['probability'], places=6)

    def write_png(self, pixels, width=32, height=32):
        def chunk(kind, data):
            body = kind + data
            return struct.pack('>I', len(data)) + body + struct.pack('>I', zlib.crc32(body))
        rows = b''.join(b'\0' + pixels[i * 3 * width:(i + 1) * 3 * width] for i in range(height))
        path = self.folder / f'made{width}x{height}.png'
        path.write_bytes(b'\x89PNG\r\n\x1a\n'
                         + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0))
                         + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
        return path

    def test_refuses(self):
        (self.folder / 'text.jpg').write_text('no picture')
        cut = (self.folder / 'real_420.jpg').read_bytes()[:600]
        (self.folder / 'cut.jpg').write_bytes(cut)
        (self.folder / 'two.txt').write_text('one\ntwo\n')
        checkpoint = next((self.folder / 'run1').glob('step-*16.safetensors'))
        damaged = bytearray(checkpoint.read_bytes())
        damaged[-1] ^= 1
        (self.folder / 'damaged.safetensors').write_bytes(damaged)
        for words, expected in [
            (('--checkpoint', 'run1'), 'nothing to evaluate on'),
            (('out',), '--checkpoint'),
            (('out', '--checkpoint', 'nowhere'), 'nowhere'),
            (('out', '--checkpoint', 'run1', '--devices', 'cuda:99'), 'cuda:99'),
            (('out', '--checkpoint', 'run1', '--devices', 'cpu:0,cpu:1'), 'uses one device'),
            (('out', '--checkpoint', 'run1', '--devices', 'gpu'), "unknown device 'gpu'"),
            (('out', '--checkpoint', 'out'), 'there is no checkpoint'),
            (('out', '--checkpoint', 'out/manifest.json'), 'manifest.json'),
            (('out', '--checkpoint', 'damaged.safetensors'), 'damaged.safetensors'),
            (('nowhere', '--checkpoint', 'run1'), 'nowhere'),
            (('out', '--checkpoint', 'run1', '--split', 'other'), 'other'),
            (('out', '--checkpoint', 'run1', '--recipe', 'mine'), "no recipe 'mine'"),
            (('out', '--checkpoint', 'run1', '--dtype', 'int4'), '--dtype'),
            (('out', '--checkpoint', 'run1', '--int8', '--dtype', 'bf16'), 'f32'),
            (('out', '--checkpoint', 'run1', '--int8', '--batch-size', '100'), '64 records'),
            (('out', '--checkpoint', 'run1', '--calibration-batches', '2'), '--int8'),
            (('out', '--checkpoint', 'run1', '--int8', '--calibration', 'mean'), '--calibration'),
            (('out', '--checkpoint', 'run1', '--int8', '--calibration-percentile', '9'),
             '--calibration'),
            (('out', '--checkpoint', 'run1', '--int8', '--batch-size', '8', '--calibration',
              'percentile', '--calibration-percentile', '0'), 'more than 0'),
            (('--checkpoint', 'run1', '--image', 'nowhere.jpg'), 'nowhere.jpg'),
            (('--checkpoint', 'run1', '--image', 'text.jpg'), 'text.jpg'),
            (('--checkpoint', 'run1', '--image', 'cut.jpg'), 'cut.jpg'),
            (('--checkpoint', 'run1', '--image', 'rgb.png', '--int8'), '--ranges'),
            (('--checkpoint', 'run1', '--image', 'rgb.png', '--names', 'two.txt'), '2 names'),
            (('--checkpoint', 'run1', '--image', 'rgb.png', '--names', 'nowhere'), 'nowhere'),
            (('out', '--checkpoint', 'run1', '--names', 'names.txt'), '--image'),
        ]:
            with self.subTest(words):
                done = self.rectrain('eval', *words, code=2)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stdout, '')

    def test_every_example_runs(self):
        for name, source in [('cat.jpg', 'real_420.jpg'), ('dog.png', 'rgb.png'),
                             ('labels.txt', 'names.txt')]:
            shutil.copy(self.folder / source, self.folder / name)
        (self.folder / 'shards').mkdir()
        (self.folder / 'shards/cifar10').symlink_to(self.folder / 'out')
        step = self.folder / 'run1/step-00000016.safetensors'
        shutil.copy(step, self.folder / 'run1/step-00000782.safetensors')
        text = self.rectrain('eval', '--help').stdout
        examples = re.findall(r'(?m)^ +rectrain (.*)$', text)
        self.assertGreaterEqual(len(examples), 4)
        shutil.copy(GOLDEN / 'onnx' / 'residual.onnx', self.folder / 'resnet50.onnx')
        self.pack_five_classes()
        for example in examples:
            words = example.replace('cuda:0', 'cpu:0').split()  # a GPU may not be there
            if '--int8' in words:
                words += ['--batch-size', '8']
            if 'resnet50.onnx' in words:  # a small one, of 5 classes
                words = ['eval', 'small', *words[2:], '--split', 'train', '--recipe', 'imagenet-eval']
            refused = 'bf16' in words and not HAS_BF16
            self.rectrain(*words, code=2 if refused else 0)


if __name__ == '__main__':
    unittest.main()

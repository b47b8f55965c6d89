"""A training step is PyTorch's (CPU): loss, the gradient of every variable, statistics, results.

PyTorch computes in f64, so that what differs is the rounding of ours. A checkpoint of rectrain
gives the same in PyTorch as in rectrain.
RECPACK_GRADIENTS and RECTRAIN name our programs (default: those in build/release/). With
RECPACK_GRADIENTS_DEVICE=cuda the class SameStep is of our operations on the first GPU.
"""
import json
import os
import struct
import subprocess
import sys

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F
from torchvision.models import resnet18, resnet34, resnet50, vgg
from torchvision.models.googlenet import BasicConv2d, GoogLeNet, Inception

from networks import Alexnet, Deepconn
from support import CIFAR, ROOT, InFolder, cat, golden_rows, main, pack, recpack, shards

sys.path.insert(0, str(ROOT / 'tools'))
import resnet_torch  # noqa: E402

BUILD = ROOT / 'build/release'
GRADIENTS = os.environ.get('RECPACK_GRADIENTS', str(BUILD / 'tests/interop/gradients'))
RECTRAIN = os.environ.get('RECTRAIN', str(BUILD / 'tools/rectrain/rectrain'))
DEVICE = os.environ.get('RECPACK_GRADIENTS_DEVICE', 'cpu')
BATCH = 12
# Relative to a variable's largest gradient, and to the largest result: some 300 units of f32's last place.
# The networks here are off by at most 4e-6. cuDNN's convolutions by transforms round more often.
TOLERANCE = {'cpu': 2e-5, 'cuda': 2e-4}[DEVICE]
CIFAR_MEAN, CIFAR_STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


def run(*words) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                          env={**os.environ, 'OMP_WAIT_POLICY': 'passive'})
    if done.returncode != 0:
        raise AssertionError(f'{words}: exit {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


def variables(network) -> dict:
    """By name; those that several parts of the network share once, by the first name."""
    found = {}
    for name, array in network.state_dict().items():
        if not name.endswith('num_batches_tracked'):
            found.setdefault(array.data_ptr(), (name, array))
    return dict(found.values())


def shake(network) -> None:
    """Statistics, scales and shifts as if it had learnt something: 0 and 1 would hide mistakes."""
    with torch.no_grad():
        for name, array in variables(network).items():
            if any(part in name for part in ('bn', 'downsample.1', 'running')) or name == 'fm.bias':
                array += 0.2 * torch.rand(array.shape)


def close(test, ours, theirs, what: str) -> None:
    test.assertEqual(ours.shape, theirs.shape, what)
    largest = theirs.abs().max().item()
    test.assertGreater(largest, 0, what)
    off = (ours.double() - theirs).abs().max().item()
    # Not >, which NaN is not.
    test.assertTrue(off <= TOLERANCE * getattr(test, 'times', 1) * largest, f'{what}: {off:.3g} of {largest:.3g}')


def near(test, ours, theirs, what: str) -> None:
    """Gradients of a network with millions of activations: some lie so near to 0 that f32 and f64 have them on both
    sides of ReLU's bend. PyTorch's own f32 is then off by up to 5 % of a gradient's norm; a wrong one is by more."""
    test.assertEqual(ours.shape, theirs.shape, what)
    off, size = (ours.double() - theirs).norm().item(), theirs.norm().item()
    test.assertTrue(size > 0 and off <= 0.15 * size, f'{what}: {off:.3g} of {size:.3g}')


class SameStep(InFolder):

    def setUp(self):
        super().setUp()
        torch.manual_seed(0)

    def ours(self, network, batch: dict, **metadata) -> dict:
        """What tests/interop/gradients.cc says of the step."""
        arrays = {f'variable/{name}': array.float().contiguous()
                  for name, array in variables(network).items()}
        save_file({**arrays, **batch}, self.folder / 'in', {k: str(v) for k, v in metadata.items()})
        run(GRADIENTS, self.folder / 'in', self.folder / 'out', 'train', DEVICE)
        return load_file(self.folder / 'out')

    def expect_same(self, network, inputs, loss_of, ours: dict, bends: bool = False) -> None:
        network = network.double().train()
        loss = loss_of(network(*inputs))
        loss.backward()
        close(self, ours.pop('loss'), loss.detach(), 'loss')
        for name, parameter in network.named_parameters():
            gradient = ours.pop(f'gradient/{name}')
            if parameter.requires_grad:
                (near if bends else close)(self, gradient, parameter.grad, name)
            else:
                self.assertLess(gradient.abs().max().item(), 1e-5, name)
        for name, array in variables(network).items():
            if 'running' in name:
                close(self, ours.pop(f'statistic/{name}'), array, name)
        with torch.no_grad():
            close(self, ours.pop('result'), network.eval()(*inputs), 'result')
        self.assertEqual(list(ours), [], 'variables that PyTorch has not')

    def expect_same_of_pictures(self, network, layout: str, image: int = 32, bends: bool = False, **metadata) -> None:
        images = torch.randn(BATCH, 3, image, image)
        labels = torch.arange(BATCH) % 10
        lying = images.permute(0, 2, 3, 1) if layout == 'nhwc' else images
        ours = self.ours(network, {'image': lying.contiguous(), 'label': labels}, layout=layout,
                         image=image, **metadata)
        self.expect_same(network, [images.double()], lambda x: F.cross_entropy(x, labels), ours, bends)

    def test_resnet(self):
        for layout in 'nhwc', 'nchw':
            for norm in 'fused', 'unfused':
                for width in 8, 16:
                    with self.subTest(layout=layout, norm=norm, width=width):
                        network = resnet_torch.ResNet18(width, 10)
                        shake(network)
                        self.expect_same_of_pictures(network, layout, model='resnet', norm=norm,
                                                     width=width, depth=18, stem=3)

    def test_resnets_of_torchvision(self):
        for depth, make in (18, resnet18), (34, resnet34), (50, resnet50):
            # Statistics of the last blocks are over one pixel an image: PyTorch's own f32 is off by 3e-5.
            self.times = 5 if depth == 50 else 1
            for layout in 'nhwc', 'nchw':
                with self.subTest(depth=depth, layout=layout):
                    network = make(num_classes=10)
                    shake(network)
                    self.expect_same_of_pictures(network, layout, bends=True, model='resnet', norm='fused', width=64,
                                                 depth=depth, stem=7)

    def test_vggs_of_torchvision(self):
        # 32 pixels leave 1x1; torchvision repeats it to 7x7, so its classifier is put aside. Few channels: where
        # a ReLU's or a maximum's input is at its bend but for the rounding, gradients differ by more.
        for letter, depth, width in ('A', 11, 64), ('D', 16, 8):
            channels = [each if each == 'M' else each * width // 64 for each in vgg.cfgs[letter]]
            last = channels[-2]
            for layout in 'nhwc', 'nchw':
                with self.subTest(depth=depth, layout=layout):
                    network = vgg.VGG(vgg.make_layers(channels, batch_norm=True))
                    network.avgpool = nn.Identity()
                    network.classifier = nn.Sequential(
                        nn.Linear(last, 48), nn.ReLU(), nn.Identity(),
                        nn.Linear(48, 48), nn.ReLU(), nn.Identity(), nn.Linear(48, 10))
                    shake(network)
                    for layer in network.features:
                        if isinstance(layer, nn.Conv2d):
                            layer.bias.requires_grad = False  # the normalisation takes it out: 0
                    self.expect_same_of_pictures(network, layout, model='vgg', norm='fused', depth=depth, width=width,
                                                 dense=48, classes=10)

    def test_googlenet_of_torchvision(self):
        self.times = 10  # 22 layers, and statistics over 2x2 pixels in the last ones

        def narrow(channels):
            return channels if channels == 3 else channels // 8
        blocks = [lambda before, after, **more: BasicConv2d(narrow(before), narrow(after), **more),
                  lambda *channels: Inception(*map(narrow, channels)), None]
        for layout in 'nhwc', 'nchw':
            with self.subTest(layout=layout):
                network = GoogLeNet(10, aux_logits=False, init_weights=False, blocks=blocks)
                network.dropout = nn.Identity()
                network.fc = nn.Linear(128, 10)
                shake(network)
                self.expect_same_of_pictures(network, layout, model='googlenet', norm='fused', width=8, classes=10,
                                             image=64, stem=7)

    def test_alexnet(self):
        for layout in 'nhwc', 'nchw':
            with self.subTest(layout=layout):
                self.expect_same_of_pictures(Alexnet(16, 48), layout, model='alexnet',
                                             norm='fused', filters=16, dense=48)

    def test_deepconn(self):
        sizes = {'vocabulary': 50, 'dims': 16, 'filters': 24, 'kernel': 3, 'latent': 12,
                 'factors': 5}
        for layout, embedding, window in [('nhwc', 'shared', 0), ('nchw', 'shared', 0),
                                          ('nhwc', 'separate', 0), ('nhwc', 'shared', 2),
                                          ('nchw', 'separate', 2)]:
            with self.subTest(layout=layout, embedding=embedding, window=window):
                network = Deepconn(**sizes, shared=embedding == 'shared', window=window,
                                   positions=17 if window else 1)  # of 18, in windows of 2
                shake(network)
                tokens = [torch.randint(1, 50, (BATCH, 20), dtype=torch.int32) for _ in range(2)]
                tokens[0][:, 15:] = 0  # padding
                tokens[1][3, 8:] = 0
                ratings = torch.rand(BATCH) * 4 + 1
                ours = self.ours(
                    network, {'user_tokens': tokens[0], 'item_tokens': tokens[1],
                              'rating': ratings},
                    model='deepconn', layout=layout, norm='fused', embedding=embedding,
                    max_tokens=20, pool_window=window, **sizes)
                self.expect_same(network, tokens, lambda x: F.mse_loss(x, ratings.double()), ours)

    def test_a_wrong_gradient_is_seen(self):
        network = resnet_torch.ResNet18(8, 10)
        with self.assertRaisesRegex(AssertionError, 'layer3.0.conv1.weight'):
            original = self.ours

            def wrong(*arguments, **metadata):
                ours = original(*arguments, **metadata)
                ours['gradient/layer3.0.conv1.weight'][3, 2] *= 1.01
                return ours
            self.ours = wrong
            self.expect_same_of_pictures(network, 'nhwc', model='resnet', norm='fused', width=8, depth=18, stem=3)


class SameTraining(InFolder):
    """`rectrain train` itself: from its loader to what the optimizer made of the gradients."""

    def test_momentum_is_the_gradient_after_one_step(self):
        # At no rate to speak of, the checkpoint behind the step has the weights before it.
        recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', '60')
        pack(self.folder / 'made/reviews.jsonl', self.folder / 'shards', '--from', 'reviews')
        records = [record for path in shards(self.folder / 'shards', 'train')
                   for record in cat(path)]
        sizes = {'dims': 16, 'filters': 24, 'kernel': 3, 'latent': 12, 'factors': 5}
        flags = [f'--{name}={size}' for name, size in sizes.items()]
        run(RECTRAIN, 'train', self.folder / 'shards', '--model', 'deepconn', *flags,
            '--max-tokens', '30', '--batch-size', len(records), '--max-steps', '1', '--lr',
            '1e-20', '--warmup-epochs', '0', '--weight-decay', '0', '--optimizer', 'sgd', '--threads', '1',
            '--no-evaluation', '--checkpoints', self.folder / 'run')
        stored = load_file(next((self.folder / 'run').glob('*.safetensors')))
        prefix = 'optimizer.momentum/'
        network = Deepconn(len(stored['embedding.weight']), **sizes, shared=True).double()
        network.load_state_dict({name: array for name, array in stored.items()
                                 if not name.startswith(prefix)}, strict=False)

        def tokens(name):
            lists = [record[name][1][:30] for record in records]
            return torch.tensor([found + [0] * (30 - len(found)) for found in lists])
        with torch.no_grad():
            network.embedding.weight[0] = 0
        predictions = network(tokens('user_tokens'), tokens('item_tokens'))
        ratings = torch.tensor([struct.unpack('<f', record['rating'][1][0])[0]
                                for record in records], dtype=torch.float64)
        F.mse_loss(predictions, ratings).backward()
        for name, parameter in network.named_parameters():
            close(self, stored[prefix + name], parameter.grad, name)


class Torchrun(InFolder):
    """PyTorch's launcher starts rectrain's processes."""

    def launched(self, *words, ranks: int = 2):
        pack(CIFAR, self.folder / 'shards')
        return subprocess.run(
            [sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node',
             str(ranks), '--no-python', *self.command(*words)], capture_output=True, text=True,
            check=False, timeout=300, env={**os.environ, 'OMP_WAIT_POLICY': 'passive'})

    def command(self, *words) -> list:
        return [RECTRAIN, 'train', str(self.folder / 'shards'), '--width', '8', '--batch-size', '8',
                '--threads', '1', *words]

    def scores(self, text: str) -> list:
        return [{key: epoch[key] for key in ('steps', 'train', 'evaluation')}
                for epoch in json.loads(text)['epochs']]

    def test_its_processes_are_the_devices_of_one(self):
        done = self.launched('--epochs', '2', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        alone = run(*self.command('--epochs', '2', '--json', '--devices', 'cpu:0,cpu:1'))
        self.assertEqual(self.scores(done.stdout), self.scores(alone))

    def test_it_ends_where_a_process_fails(self):
        done = self.launched('--epochs', '1000000', '--lr', '1e30')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('is not a number', done.stderr)


class SameCheckpoint(InFolder):
    """What `rectrain train` wrote: PyTorch gets the score that `rectrain eval` prints."""

    def test_resnet(self):
        data, checkpoints = self.folder / 'shards', self.folder / 'run'
        pack(CIFAR, data)
        run(RECTRAIN, 'train', data, '--width', '8', '--epochs', '3', '--batch-size', '8',
            '--threads', '1', '--checkpoints', checkpoints)
        checkpoint = sorted(checkpoints.glob('*.safetensors'))[-1]
        rows = golden_rows('eval')
        pixels = np.stack([np.frombuffer(row, np.uint8).reshape(3, 32, 32) for row, _ in rows])
        labels = torch.tensor([label for _, label in rows])
        mean, std = (torch.tensor(x).reshape(3, 1, 1) for x in (CIFAR_MEAN, CIFAR_STD))
        images = (torch.from_numpy(pixels).float() / 255 - mean) / std
        with torch.no_grad():
            logits = resnet_torch.load(str(checkpoint))(images)
        found = json.loads(run(RECTRAIN, 'eval', data, '--checkpoint', checkpoints, '--json'))
        self.assertEqual(found['samples'], len(rows))
        self.assertAlmostEqual(found['loss'], F.cross_entropy(logits, labels).item(), places=4)
        self.assertAlmostEqual(found['accuracy'],
                               (logits.argmax(1) == labels).float().mean().item(), places=6)

        # The script by its command line, on the same step's logits as this library has them.
        weights = {f'variable/{name}': array for name, array in load_file(checkpoint).items()
                   if not name.startswith('optimizer.')}
        given = {'image': images.permute(0, 2, 3, 1).contiguous(), 'label': labels}
        save_file({**weights, **given}, self.folder / 'in',
                  {'model': 'resnet', 'layout': 'nhwc', 'norm': 'fused', 'width': '8', 'depth': '18', 'stem': '3',
                   'image': '32'})
        samples = self.folder / 'samples'
        self.assertIn('all found', run(sys.executable, ROOT / 'tools/resnet_torch.py', checkpoint))
        # Evaluation before the step: its own pass in training moves the statistics.
        run(GRADIENTS, self.folder / 'in', self.folder / 'out', 'evaluate')
        save_file({'input': images.contiguous(),
                   'logits': load_file(self.folder / 'out')['result']}, samples)
        said = run(sys.executable, ROOT / 'tools/resnet_torch.py', checkpoint, samples,
                   '--tolerance', '1e-4')
        self.assertIn(f'same class for {len(rows)} of {len(rows)}', said)


if __name__ == '__main__':
    main()

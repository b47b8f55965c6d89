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
from torch.nn import functional as F

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
    return {name: array for name, array in network.state_dict().items()
            if not name.endswith('num_batches_tracked')}


def shake(network) -> None:
    """Statistics, scales and shifts as if it had learnt something: 0 and 1 would hide mistakes."""
    with torch.no_grad():
        for name, array in variables(network).items():
            if 'bn' in name or 'downsample.1' in name or name == 'fm.bias':
                array += 0.2 * torch.rand(array.shape)


def close(test, ours, theirs, what: str) -> None:
    test.assertEqual(ours.shape, theirs.shape, what)
    largest = theirs.abs().max().item()
    test.assertGreater(largest, 0, what)
    off = (ours.double() - theirs).abs().max().item()
    # Not >, which NaN is not.
    test.assertTrue(off <= TOLERANCE * largest, f'{what}: {off:.3g} of {largest:.3g}')


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

    def expect_same(self, network, inputs, loss_of, ours: dict) -> None:
        network = network.double().train()
        loss = loss_of(network(*inputs))
        loss.backward()
        close(self, ours.pop('loss'), loss.detach(), 'loss')
        for name, parameter in network.named_parameters():
            close(self, ours.pop(f'gradient/{name}'), parameter.grad, name)
        for name, array in variables(network).items():
            if 'running' in name:
                close(self, ours.pop(f'statistic/{name}'), array, name)
        with torch.no_grad():
            close(self, ours.pop('result'), network.eval()(*inputs), 'result')
        self.assertEqual(list(ours), [], 'variables that PyTorch has not')

    def expect_same_of_pictures(self, network, layout: str, **metadata) -> None:
        images = torch.randn(BATCH, 3, 32, 32)
        labels = torch.arange(BATCH) % 10
        lying = images.permute(0, 2, 3, 1) if layout == 'nhwc' else images
        ours = self.ours(network, {'image': lying.contiguous(), 'label': labels}, layout=layout,
                         **metadata)
        self.expect_same(network, [images.double()], lambda x: F.cross_entropy(x, labels), ours)

    def test_resnet(self):
        for layout in 'nhwc', 'nchw':
            for norm in 'fused', 'unfused':
                for width in 8, 16:
                    with self.subTest(layout=layout, norm=norm, width=width):
                        network = resnet_torch.ResNet18(width, 10)
                        shake(network)
                        self.expect_same_of_pictures(network, layout, model='resnet', norm=norm,
                                                     width=width)

    def test_alexnet(self):
        for layout in 'nhwc', 'nchw':
            with self.subTest(layout=layout):
                self.expect_same_of_pictures(Alexnet(16, 48), layout, model='alexnet',
                                             norm='fused', filters=16, dense=48)

    def test_deepconn(self):
        sizes = {'vocabulary': 50, 'dims': 16, 'filters': 24, 'kernel': 3, 'latent': 12,
                 'factors': 5}
        for layout in 'nhwc', 'nchw':
            with self.subTest(layout=layout):
                network = Deepconn(**sizes)
                shake(network)
                tokens = [torch.randint(1, 50, (BATCH, 20), dtype=torch.int32) for _ in range(2)]
                tokens[0][:, 15:] = 0  # padding
                tokens[1][3, 8:] = 0
                ratings = torch.rand(BATCH) * 4 + 1
                ours = self.ours(
                    network, {'user_tokens': tokens[0], 'item_tokens': tokens[1],
                              'rating': ratings},
                    model='deepconn', layout=layout, norm='fused', max_tokens=20, **sizes)
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
            self.expect_same_of_pictures(network, 'nhwc', model='resnet', norm='fused', width=8)


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
        network = Deepconn(len(stored['user.embedding.weight']), **sizes).double()
        network.load_state_dict({name: array for name, array in stored.items()
                                 if not name.startswith(prefix)})

        def tokens(name):
            lists = [record[name][1][:30] for record in records]
            return torch.tensor([found + [0] * (30 - len(found)) for found in lists])
        with torch.no_grad():
            for tower in network.user, network.item:
                tower.embedding.weight[0] = 0
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
                  {'model': 'resnet', 'layout': 'nhwc', 'norm': 'fused', 'width': '8'})
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

"""recpack migrate: the change of programs in the shapes of public training scripts, or why there is none."""
import ast
import os
import pathlib
import subprocess
import sys
import textwrap

import recpack_io
from recpack_io.migrate import migrate
from support import InFolder, main

HEAD = """\
import torch
from torch.utils.data import DataLoader, DistributedSampler
from torchvision import datasets, transforms
"""


def changed(body, head=HEAD):
    """The migration of a program; it is Python before and after."""
    result = migrate(head + textwrap.dedent(body))
    ast.parse(result.text)
    return result


def squeezed(text):
    return ' '.join(text.split())


class Migrate(InFolder):
    def expect(self, body, *lines):
        """Lines that the changed program has, whatever their breaks."""
        result = changed(body)
        for line in lines:
            self.assertIn(squeezed(line), squeezed(result.text))
        self.assertIn('import recpack_io\nfrom recpack_io.torch import Loader\n', result.text)
        return result

    def expect_left(self, body, reason):
        result = changed(body)
        self.assertEqual(result.done, [])
        self.assertEqual(result.text, HEAD + textwrap.dedent(body))
        self.assertRegex('\n'.join(result.left), reason)

    def test_image_folders(self):
        result = self.expect('''
            normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
            train = datasets.ImageFolder("photos/train", transforms.Compose([
                transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
                transforms.ToTensor(), normalize]))
            loader = DataLoader(train, batch_size=32, shuffle=True, num_workers=8, pin_memory=True, drop_last=True)
            evaluation = torch.utils.data.DataLoader(
                datasets.ImageFolder(root="photos/val", transform=transforms.Compose([
                    transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(), normalize])),
                batch_size=32)
            print(len(train.classes), len(train))
            ''', 'train = recpack_io.open("photos/train")',
            'loader = Loader(train, "imagenet-train", batch_size=32, as_tuple=True)',
            'evaluation = Loader(recpack_io.open("photos/val"), "imagenet-eval", batch_size=32, '
            'order="sequential", last_batch="keep", as_tuple=True)',
            'print(len(train.class_names), len(train))')
        self.assertEqual(result.left, [])

    def test_cifar(self):
        result = self.expect('''
            augment = transforms.Compose([transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(),
                transforms.ToTensor(), transforms.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2))])
            data = datasets.CIFAR10(root='./data', train=True, download=True, transform=augment)
            loader = DataLoader(data, 128, True)
            ''', 'data = recpack_io.open("./data/cifar10-shards", split="train")',
            'fields=recpack_io.recipe("cifar10-train", mean=(0.5, 0.5, 0.5), std=(0.2, 0.2, 0.2))',
            'batch_size=128, last_batch="keep", as_tuple=True)')
        self.assertRegex('\n'.join(result.notes), '7: CIFAR10 is not downloaded any more')
        # Not the folder itself, of which the split train has four of the five batches.
        self.assertRegex('\n'.join(result.notes), '7: pack CIFAR-10 once, .*: recpack pack ./data/cifar-10-batches-py '
                                                  './data/cifar10-shards --splits train,test')

    def test_ranks(self):
        self.expect('''
            def main(args):
                train = datasets.ImageFolder(args.data, transforms.Compose([
                    transforms.RandomResizedCrop(args.size), transforms.ToTensor()]))
                if args.distributed:
                    sampler = torch.utils.data.distributed.DistributedSampler(train)
                else:
                    sampler = None
                loader = DataLoader(train, batch_size=args.batch, shuffle=(sampler is None), sampler=sampler)
                for epoch in range(args.epochs):
                    if args.distributed:
                        sampler.set_epoch(epoch)
            ''', 'train = recpack_io.open(args.data)',
            'fields=[recpack_io.Image(crop="random-resized", height=args.size, width=args.size, '
            'mean=(0, 0, 0), std=(1, 1, 1)), recpack_io.Numbers("label")]',
            'last_batch="pad" if sampler is not None else "keep"', 'loader.set_epoch(epoch)')

    def test_a_transform_without_an_option_is_called(self):
        result = self.expect('''
            augment = transforms.Compose([transforms.RandomResizedCrop(160), transforms.ColorJitter(0.4),
                                          transforms.ToTensor()])
            loader = DataLoader(datasets.ImageFolder("photos", augment), batch_size=8, shuffle=True)
            ''', 'fields=[recpack_io.Image(then=augment, height=160, width=160), recpack_io.Numbers("label")]')
        self.assertRegex('\n'.join(result.notes), 'called as it is, in Python: ColorJitter')

    def test_expressions_are_kept(self):
        self.expect('''
            def load(path, batch, drop, mix):
                data = datasets.ImageFolder(path, transforms.Compose([transforms.Resize((96, 64)),
                                                                      transforms.ToTensor()]))
                return DataLoader(data, batch_size=batch // 2, shuffle=mix, drop_last=drop)
            ''', 'crop="resize", height=96, width=64', 'batch_size=batch // 2',
            'order="auto" if mix else "sequential"', 'last_batch="drop" if drop else "keep"')

    def test_options_of_transforms(self):
        self.expect('''
            data = datasets.ImageFolder("photos", transforms.Compose([
                transforms.RandomResizedCrop(176, scale=(0.2, 1), ratio=(0.8, 1.25)), transforms.RandomHorizontalFlip(0.3),
                transforms.TrivialAugmentWide(), transforms.ToTensor(),
                transforms.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)), transforms.RandomErasing(p=0.1)]))
            loader = DataLoader(data, batch_size=8, shuffle=True)
            ''', 'crop="random-resized", height=176, width=176, area=(0.2, 1), aspect=(0.8, 1.25), flip=0.3, '
            'policy="trivialaugment", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5), erasing=0.1')

    def test_what_is_left(self):
        compose = 'transforms.Compose([transforms.CenterCrop(8), transforms.ToTensor()])'
        folder = f'data = datasets.ImageFolder("photos", {compose})\n'
        for body, reason in (
                ('print(1)\n', 'makes no torch.utils.data.DataLoader'),
                ('loader = DataLoader(datasets.MNIST("x"), batch_size=3)\n', r'4: .* reads no MNIST: pack its'),
                (folder + 'loader = DataLoader(data, collate_fn=lambda x: x)\n', 'collate_fn: .*batch_functions'),
                (folder + 'loader = DataLoader(data, sampler=weights)\n', r'a sampler: .*weighted\(\)'),
                (folder + 'loader = DataLoader(data, **options)\n', 'its arguments are not in the call'),
                (folder + 'loader = DataLoader(data, in_order=False)\n', "argument 'in_order'"),
                (folder + 'a = DataLoader(data)\nb = torch.utils.data.Subset(data, [1])\n',
                 'line 6 uses its data set too: torch.utils.data.Subset'),
                (folder + 'a = DataLoader(data)\nprint(data.samples)\n', 'line 6 uses .*: data.samples'),
                ('def load(data):\n    return DataLoader(data)\n', 'where data is made is not told'),
                ('data = datasets.ImageFolder("photos", make())\nloader = DataLoader(data)\n',
                 'its transform: the size of its images is not told'),
                ('data = datasets.ImageFolder("photos")\nloader = DataLoader(data)\n', 'has no transform'),
                (f'data = datasets.ImageFolder("photos", {compose}, loader=mine)\nloader = DataLoader(data)\n',
                 'has a loader'),
                (f'a, b = torch.utils.data.random_split(x, [1, 2])\nloader = DataLoader(a)\n', 'where a is made')):
            with self.subTest(body=body):
                self.expect_left(body, reason)

    def test_the_program(self):
        path = self.folder / 'train.py'
        body = ('data = datasets.ImageFolder("photos", transforms.Compose([transforms.Resize((8, 8)), '
                'transforms.ToTensor()]))\nloader = DataLoader(data, batch_size=2, shuffle=True)\n')
        path.write_text(HEAD + body)
        command = [os.environ['RECPACK'], 'migrate', path]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f'changed: {path}:5: DataLoader -> Loader', done.stderr)
        self.assertEqual(path.read_text(), HEAD + body)
        patched = subprocess.run(['patch', path], input=done.stdout, capture_output=True, text=True)
        self.assertEqual(patched.returncode, 0, patched.stdout)
        after = path.read_text()
        path.write_text(HEAD + body)
        self.assertEqual(subprocess.run([*command, '--write'], capture_output=True).returncode, 0)
        self.assertEqual(path.read_text(), after)
        self.assertEqual(after, migrate(HEAD + body).text)
        again = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((again.returncode, again.stdout), (1, ''))
        for text, reason in (('def', r'train.py:1: is no program for this Python'), (None, 'cannot be read')):
            path.unlink() if text is None else path.write_text(text)
            failed = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(failed.returncode, 2)
            self.assertRegex(failed.stderr, reason)

    def test_without_the_package(self):
        program = pathlib.Path(recpack_io.__file__).parent / 'bin' / 'recpack'
        bare = self.folder / 'python'
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        bare.chmod(0o755)
        for python, reason in (('/nowhere/python', 'cannot be run'),
                               (str(bare), 'needs the Python package recpack-io')):
            done = subprocess.run([program, 'migrate', 'x.py'], capture_output=True, text=True,
                                  env=os.environ | {'RECPACK_PYTHON': python})
            self.assertEqual(done.returncode, 2)
            self.assertIn(reason, done.stderr)


if __name__ == '__main__':
    main()

"""recpack migrate: the change of programs in the shapes of public training scripts, or why there is none."""
import ast
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import unittest

import recpack_io
from recpack_io.migrate import migrate
from support import GOLDEN, InFolder, free_port, main

HERE = pathlib.Path(__file__).parent
HAS_TORCH = importlib.util.find_spec('torchvision') is not None
PHOTOS = 'real_420', 'real_422', 'real_444', 'progressive', 'prime'

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
            'loader = Loader(train, "imagenet-train", batch_size=32)',
            'evaluation = Loader(recpack_io.open("photos/val"), "imagenet-eval", batch_size=32, '
            'order="sequential", last_batch="keep")',
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
                transforms.RandomResizedCrop(176, scale=(0.2, 1), ratio=(0.8, 1.25)),
                transforms.RandomHorizontalFlip(0.3), transforms.TrivialAugmentWide(), transforms.ToTensor(),
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
                (folder + 'loader = DataLoader(data, collate_fn=lambda x: x)\n', 'collate_fn .*batch_functions'),
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
                (f'a, b = torch.utils.data.random_split(x, [1, 2])\nloader = DataLoader(a)\n',
                 'made by random_split: use')):
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


class References(InFolder):
    """train.py, in the shape of torchvision's references, with the files that it imports."""

    def setUp(self):
        super().setUp()
        shutil.copytree(HERE / 'to_migrate', self.folder, dirs_exist_ok=True)
        self.program = self.folder / 'train.py'
        self.before = self.program.read_text()

    def line(self, text):
        """The number of the program's line with a text."""
        return next(number for number, line in enumerate(self.before.splitlines(), 1) if text in line)

    def test_data_sets_and_samplers_of_a_function(self):
        result = migrate(self.before, self.folder)
        text = squeezed(result.text)
        for line in (
                'dataset = recpack_io.open(train_path) dataset_fields = (recpack_io.recipe("imagenet-train", '
                'height=train_side, width=train_side, erasing=erased) if not args.newer and args.kind == "pil" and '
                'policy is None and args.interpolation == "bilinear" else [recpack_io.Image(then=recipes.Training(',
                'given="pil", height=train_side, width=train_side), recpack_io.Numbers("label")])',
                'dataset_test_fields = (recpack_io.recipe("imagenet-eval", resize=shorter, height=val_side, '
                'width=val_side) if not (args.weights and args.test_only) and not args.newer and args.kind == "pil" '
                'and args.interpolation == "bilinear" else [recpack_io.Image(then=preprocessing, given="pil", '
                'height=val_side, width=val_side), recpack_io.Numbers("label")])',
                'return dataset, dataset_test, train_sampler, test_sampler, dataset_fields, dataset_test_fields',
                'dataset, dataset_test, train_sampler, test_sampler, dataset_fields, dataset_test_fields = load(',
                'len(dataset.class_names)',
                'data_loader_test = Loader(dataset_test, fields=dataset_test_fields, batch_size=args.batch_size, '
                'order="sequential", last_batch="pad" if isinstance(test_sampler, '
                'torch.utils.data.distributed.DistributedSampler) else "keep", as_tuple=True)'):
            self.assertIn(line, text)
        ast.parse(result.text)
        notes = '\n'.join(result.notes)
        self.assertRegex(notes, 'in Python unless not args.newer and')
        self.assertRegex(notes, r'load\(\) returns dataset_fields, dataset_test_fields as well: programs that import')
        self.assertRegex(notes, f'{self.line("torch.save((dataset")}: saves the data set, of recpack now')
        self.assertRegex(notes, 'over several ranks its last batch is filled up .* batch.mask')

    def test_a_collate_fn_of_whole_batches_goes_on(self):
        text = squeezed(migrate(self.before, self.folder).text)
        for line in ('def collate_fn(batch): return mix(*batch)', 'else: collate_fn = None',
                     'data_loader = torch.utils.data.DataLoader( IterableDataset(Loader(dataset, '
                     'fields=dataset_fields, batch_size=args.batch_size, ',
                     'batch_size=None, collate_fn=collate_fn, pin_memory=args.pinned)',
                     'data_loader.dataset.loader.set_epoch(epoch)',
                     'from recpack_io.torch import IterableDataset, Loader'):
            self.assertIn(line, text)

    def test_cases_that_the_loader_has_not_become_errors(self):
        result = migrate(self.before, self.folder)
        for place, what in (
                ('torch.load(', r'torch.load\(\) gives, so that this case is an error now: pack the folder'),
                ('= RepeatingSampler(', 'no sampler like RepeatingSampler, so that this case is an error')):
            self.assertRegex('\n'.join(result.left), f'{self.line(place)}: the Loader .*{what}')
        self.assertNotIn('torch.load(', squeezed(result.text).replace('what torch.load() gives', ''))
        self.assertEqual(result.text.count('raise ValueError("recpack: '), 2)

    def test_without_the_files_beside_it(self):
        """The transform of training is unknown then, and so is the one of evaluation: both stay."""
        result = migrate(self.before)
        self.assertEqual(result.text, self.before)
        line = self.line('data_loader = ')
        self.assertRegex('\n'.join(result.left), fr'{line}: DataLoader: its transform: .*\(recipes.Training has')

    def test_the_program_reads_the_files_beside_it(self):
        done = subprocess.run([os.environ['RECPACK'], 'migrate', self.program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, migrate(self.before, self.folder).diff(self.before, str(self.program)))

    def test_transforms_of_classes_that_cannot_be_told(self):
        """They are called as they are where their size is told, and refused where not."""
        for before, after, reason in (
                ('        return self.steps(image)\n\n\nclass',
                 '        return self.steps(image.convert("RGB"))\n\n\nclass',
                 'Training: Training does more than to call'),
                ('        if mirrored > 0:', '        while mirrored > 0:', 'while in its code is not followed')):
            path = self.folder / 'recipes.py'
            text = (HERE / 'to_migrate' / 'recipes.py').read_text()
            self.assertIn(before, text)
            path.write_text(text.replace(before, after, 1))
            result = migrate(self.before, self.folder)
            self.assertRegex('\n'.join(result.left), f'its transform: the size .*{reason}')
            self.assertIn('data_loader_test = Loader(', result.text)

    def run_program(self, text, *flags):
        """The lines that a program prints, and its last error."""
        self.program.write_text(text)
        done = subprocess.run([sys.executable, self.program, '--data', self.folder / 'photos', *flags], text=True,
                              capture_output=True, cwd=self.folder)
        return done.stdout.splitlines(), done.stderr.strip().rpartition('\n')[2]

    def write_photos(self):
        for split, count in (('train', 12), ('val', 10)):
            for number in range(count):
                folder = self.folder / 'photos' / split / ('birds', 'cats')[number % 2]
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(GOLDEN / 'image' / f'{PHOTOS[number % len(PHOTOS)]}.jpg', folder / f'{number:02}.jpg')

    def check_runs(self, *flags):
        """Runs the program before and after with the same flags: the same steps, and the same images evaluated."""
        before, error = self.run_program(self.before, *flags, '--kept', 'before.pt')
        self.assertEqual(len([line for line in before if line.startswith('evaluated')]), 2, error)
        after, error = self.run_program(migrate(self.before, self.folder).text, *flags, '--kept', 'after.pt')
        before, after = ([line.partition(' 0.')[0] for line in lines] for lines in (before, after))
        self.assertEqual(after, before, error)
        import torch
        old, new = (torch.load(self.folder / f'{name}.pt') for name in ('before', 'after'))
        self.assertEqual(new.shape, old.shape)
        self.assertLess((new - old).abs().mean().item(), 0.01)

    @unittest.skipUnless(HAS_TORCH, 'needs torchvision')
    def test_the_changed_program_runs_as_before(self):
        self.write_photos()
        for flags in ((), ('--mixup', '0.2', '--erased', '0.5'), ('--policy', 'imagenet', '--newer'),
                      ('--interpolation', 'bicubic', '--kind', 'tensor', '--pinned'),
                      ('--weights', 'ResNet18_Weights.DEFAULT', '--test-only', '--val-side', '224')):
            with self.subTest(flags):
                self.check_runs(*flags)

    @unittest.skipUnless(HAS_TORCH, 'needs torchvision')
    def test_a_case_that_became_an_error_says_so(self):
        self.write_photos()
        after = migrate(self.before, self.folder).text
        _, error = self.run_program(after, '--cache-dataset')
        self.assertEqual(error, '')
        _, error = self.run_program(after, '--cache-dataset')
        self.assertRegex(error, r'ValueError: recpack: .* torch.load\(\) gives: pack the folder once')

    @unittest.skipUnless(HAS_TORCH, 'needs torchvision')
    def test_the_changed_program_runs_on_two_ranks(self):
        self.write_photos()
        self.program.write_text(migrate(self.before, self.folder).text)
        places = {'WORLD_SIZE': '2', 'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': str(free_port())}
        ranks = [subprocess.Popen([sys.executable, self.program, '--data', self.folder / 'photos', '--batch-size', '4',
                                   '--kept', f'rank{rank}.pt'], cwd=self.folder, stdout=subprocess.PIPE, text=True,
                                  env=os.environ | places | {'RANK': str(rank)})
                 for rank in range(2)]
        for rank in ranks:
            printed, _ = rank.communicate()
            self.assertEqual(rank.returncode, 0)
            self.assertEqual([line.partition(':')[0] for line in printed.splitlines() if 'samples' not in line],
                             ['step 0', 'step 1', 'evaluated 8'] * 2)  # 12 and 10 photos: pads


class PublicShapes(InFolder):
    """The parts that matter of scripts that many start from: converted, or refused with what to do."""

    def expect(self, text, *lines):
        result = migrate(textwrap.dedent(text))
        ast.parse(result.text)
        for line in lines:
            self.assertIn(squeezed(line), squeezed(result.text))
        return result

    def test_samplers_of_some_runs(self):
        """One process draws otherwise than several: PyTorch's example for ImageNet."""
        result = self.expect('''
            import torch
            import torch.distributed as dist
            from torch.utils.data import Subset
            from torchvision import datasets, transforms

            def work(args):
                if args.distributed:
                    dist.init_process_group(backend='nccl')
                if args.dummy:
                    train = datasets.FakeData(1000, (3, 224, 224), 10, transforms.ToTensor())
                    val = datasets.FakeData(1000, (3, 224, 224), 10, transforms.ToTensor())
                else:
                    train = datasets.ImageFolder(args.data + '/train', transforms.Compose([
                        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor()]))
                    val = datasets.ImageFolder(args.data + '/val', transforms.Compose([
                        transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()]))
                if args.distributed:
                    train_sampler = torch.utils.data.distributed.DistributedSampler(train)
                    val_sampler = torch.utils.data.distributed.DistributedSampler(val, shuffle=False, drop_last=True)
                else:
                    train_sampler = None
                    val_sampler = None
                train_loader = torch.utils.data.DataLoader(
                    train, batch_size=args.batch, shuffle=(train_sampler is None), sampler=train_sampler)
                val_loader = torch.utils.data.DataLoader(
                    val, batch_size=args.batch, shuffle=False, sampler=val_sampler)
                for epoch in range(args.epochs):
                    if args.distributed:
                        train_sampler.set_epoch(epoch)
                    validate(val_loader, args)

            def validate(val_loader, args):
                if args.distributed and len(val_loader.sampler) * args.world_size < len(val_loader.dataset):
                    rest = Subset(val_loader.dataset, range(len(val_loader.sampler) * args.world_size,
                                                            len(val_loader.dataset)))
                    rest_loader = torch.utils.data.DataLoader(rest, batch_size=args.batch)
            ''', 'val_loader = Loader(val, fields=recpack_io.recipe("imagenet-eval", mean=(0, 0, 0), std=(1, 1, 1)), '
            'batch_size=args.batch, order="sequential", last_batch="pad" if val_sampler is not None else "keep", '
            'as_tuple=True)', 'train_loader.set_epoch(epoch)', 'if args.dummy: raise ValueError("recpack: ',
            'if args.distributed and -(-len(val_loader.dataset) // val_loader.world_size) * args.world_size < '
            'len(val_loader.dataset):')
        self.assertRegex('\n'.join(result.left), 'FakeData.*: pack made-up images')
        self.assertRegex('\n'.join(result.left), 'DataLoader: its data set is made by Subset')

    def test_loaders_of_a_function(self):
        """Its transforms are those of another function, and its caller takes the sampler."""
        result = self.expect('''
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler
            from torchvision import datasets, transforms

            def transform(train, size=224):
                steps = []
                if train:
                    steps.append(transforms.RandomResizedCrop(size))
                    steps.append(transforms.RandomHorizontalFlip())
                else:
                    steps += [transforms.Resize(int(size / 0.875)), transforms.CenterCrop(size)]
                steps.append(transforms.ToTensor())
                steps.append(transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
                return transforms.Compose(steps)

            def loaders(args):
                train = datasets.ImageFolder(args.data, transform(True))
                val = datasets.ImageFolder(args.data, transform=transform(train=False, size=args.size))
                sampler = DistributedSampler(train) if args.distributed else None
                loader = DataLoader(train, args.batch, sampler=sampler, shuffle=sampler is None, drop_last=True)
                return loader, DataLoader(val, args.batch), sampler

            def main(args):
                train_loader, val_loader, train_sampler = loaders(args)
                for epoch in range(3):
                    train_sampler.set_epoch(epoch)
                    train_loader.sampler.set_epoch(epoch)
            ''', 'loader = Loader(train, "imagenet-train", batch_size=args.batch)',
            'Loader(val, fields=recpack_io.recipe("imagenet-eval", resize=int(args.size / 0.875), height=args.size, '
            'width=args.size), batch_size=args.batch, order="sequential", rank=0, world_size=1, last_batch="keep",',
            'train_loader.set_epoch(epoch) train_loader.set_epoch(epoch)')
        self.assertEqual(result.left, [])
        self.assertRegex('\n'.join(result.notes), 'each rank reads all records, as before')

    def test_cifar(self):
        result = self.expect('''
            import torch
            import torchvision
            import torchvision.transforms as transforms
            from models import *

            augment = transforms.Compose([transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(),
                transforms.ToTensor(), transforms.Normalize((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010))])
            plain = transforms.Compose([transforms.ToTensor(),
                transforms.Normalize((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010))])
            trainset = torchvision.datasets.CIFAR10(root='./data', train=True, download=True, transform=augment)
            trainloader = torch.utils.data.DataLoader(trainset, batch_size=128, shuffle=True, num_workers=2)
            testset = torchvision.datasets.CIFAR10(root='./data', train=False, download=True, transform=plain)
            testloader = torch.utils.data.DataLoader(testset, batch_size=100, shuffle=False, num_workers=2)
            ''', 'recpack_io.recipe("cifar10-train", std=(0.2023, 0.1994, 0.2010))',
            'recpack_io.recipe("cifar10-eval", std=(0.2023, 0.1994, 0.2010))', 'split="test")')
        self.assertEqual(result.left, [])

    def test_what_is_refused(self):
        loader = 'torch.utils.data.DataLoader'
        for text, reason in (
                # PyTorch's example for MNIST.
                ('import torch\nfrom torchvision import datasets, transforms\ndigits = datasets.MNIST("data", '
                 f'transform=transforms.ToTensor())\nloader = {loader}(digits, **options)\n',
                 r'4: DataLoader: recpack reads no MNIST \(line 3\): pack its samples once'),
                # timm
                ('from timm.data import create_loader\nloader = create_loader(data, batch_size=8)\n',
                 r'2: timm.data.create_loader: open the data .* fields=\[recpack_io.Image\(then=timm'),
                # Hugging Face
                ('import torch\nfrom datasets import load_dataset\nfrom accelerate import Accelerator\nall = '
                 f'load_dataset("x")\ntrain = all["train"].with_transform(change)\nloader = {loader}(train, '
                 'collate_fn=lambda x: x)\n',
                 r'6: DataLoader: all\["train"\].with_transform \(line 5\) is a data set of Hugging Face: pack it once'
                 '.* recpack_io.huggingface.prepare'),
                # Segmentation and detection
                ('import torch\nimport utils\nfrom coco_utils import get_coco\n\ndef made(train, args):\n    data = '
                 'get_coco(args.data, transforms=None)\n    return data, 91\n\ndef main(args):\n    data, classes = '
                 'made(True, args)\n    test, _ = made(False, args)\n'
                 f'    loader = {loader}(data, batch_sampler=groups, '
                 'collate_fn=utils.collate_fn)\n',
                 r'12: DataLoader: recpack does not read get_coco \(line 6\): pack its images with their masks'),
                ('import torch\nfrom data import load_data\n\ntrain, test = load_data("photos")\nloader = '
                 f'{loader}(train)\n', r'5: DataLoader: load_data\(\) of data \(line 4\) makes its data set: call')):
            with self.subTest(text):
                result = migrate(text)
                self.assertEqual((result.text, result.done), (text, []))
                self.assertRegex('\n'.join(result.left), reason)


class Exactness(InFolder):
    """What would differ in silence is refused, called as it is, or kept."""

    def folder_of(self, transform, before=''):
        return changed(f'{before}\ndata = datasets.ImageFolder("photos", {transform})\n'
                       'loader = DataLoader(data, batch_size=8, shuffle=True)\n')

    def test_transforms_that_are_called(self):
        for transform, before, reason in (
                ('transforms.Compose(steps)', 'steps = [transforms.RandomResizedCrop(96)]\nif policy:\n    '
                 'steps.append(policy)\nsteps.append(transforms.ToTensor())', 'line 6 changes its list'),
                ('augment', 'augment = transforms.Compose([transforms.RandomResizedCrop(96), transforms.ToTensor()])\n'
                 'augment.transforms.insert(0, policy)', 'line 5 changes it'),
                ('transforms.Compose([transforms.RandomResizedCrop(96), transforms.PILToTensor()])', '',
                 'values from 0 to 255'),
                ('transforms.Compose([transforms.RandomResizedCrop(96), transforms.v2.ToImage(), '
                 'transforms.v2.ToDtype(torch.float32)])', '', 'ToDtype without scale=True'),
                ('transforms.Compose([transforms.RandomResizedCrop(96), transforms.RandAugment(3), '
                 'transforms.ToTensor()])', '', 'RandAugment with other numbers'),
                ('transforms.Compose([transforms.RandAugment(), transforms.RandomResizedCrop(96), '
                 'transforms.ToTensor()])', '', 'RandomResizedCrop after steps that change colours'),
                ('transforms.Compose([transforms.RandomResizedCrop(96, interpolation=3), transforms.ToTensor()])', '',
                 'another interpolation than bilinear')):
            with self.subTest(transform):
                result = self.folder_of(transform, before)
                self.assertIn(f'recpack_io.Image(then={transform}, height=96, width=96)', result.text)
                self.assertRegex('\n'.join(result.notes), reason)

    def test_policies_interpolate_as_before(self):
        crop = 'transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), '
        end = ', transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])'
        result = self.folder_of(f'{crop}transforms.TrivialAugmentWide(){end}')
        self.assertIn('policy="trivialaugment"', result.text)  # nearest; the recipe's is bilinear
        bilinear = 'interpolation=transforms.InterpolationMode.BILINEAR'
        result = self.folder_of(f'{crop}transforms.TrivialAugmentWide({bilinear}){end}')
        self.assertIn('Loader(data, "imagenet-train-trivialaugment"', result.text)

    def test_samplers(self):
        made = ('data = datasets.ImageFolder("photos", transforms.Compose([transforms.RandomResizedCrop(96), '
                'transforms.ToTensor()]))\n')
        for sampler, lines in (
                ('DistributedSampler(data, num_replicas=size(), rank=rank())',
                 'rank=rank(), world_size=size(), last_batch="pad"'),
                ('DistributedSampler(data) if many else None',
                 'order="auto" if sampler is not None else "sequential", last_batch="pad" if sampler is not None'),
                ('torch.utils.data.SequentialSampler(data)', 'order="sequential", last_batch="keep"')):
            result = changed(f'{made}sampler = {sampler}\nloader = DataLoader(data, batch_size=8, sampler=sampler)\n')
            self.assertIn(lines, squeezed(result.text))
        for sampler, reason in (('torch.utils.data.RandomSampler(data, replacement=True)', 'RandomSampler that draws'),
                                ('torch.utils.data.WeightedRandomSampler(w, 8)', 'WeightedRandomSampler: .*weighted')):
            result = changed(f'{made}sampler = {sampler}\nloader = DataLoader(data, batch_size=8, sampler=sampler)\n')
            self.assertEqual(result.done, [])
            self.assertRegex('\n'.join(result.left), reason)

    def test_collate_functions(self):
        made = ('from torch.utils.data import default_collate\ndata = datasets.ImageFolder("photos", '
                'transforms.Compose([transforms.RandomResizedCrop(96), transforms.ToTensor()]))\n')
        for before, given, line in (
                ('', 'default_collate', 'loader = Loader(data,'),
                ('collate = None\nif mix:\n    collate = lambda batch: mix(*default_collate(batch))\n', 'collate',
                 'collate = lambda batch: mix(*batch)'),
                ('def collate(samples):\n    return mix(default_collate(samples))\n', 'collate',
                 'return mix(list(samples))'),
                ('', 'lambda batch: mix(*default_collate(batch))', 'collate_fn=lambda batch: mix(*batch))')):
            result = changed(f'{made}{before}loader = DataLoader(data, 8, True, collate_fn={given})\n')
            self.assertIn(line, squeezed(result.text))
            self.assertEqual(result.left, [])
        mixing = f'{made}loader = DataLoader(data, 8, collate_fn=lambda batch: mix(*default_collate(batch)))\n'
        result = changed(f'{mixing}print(len(loader.dataset))\n')
        self.assertRegex('\n'.join(result.left), 'line 7 reads its dataset: mix the batches in the loop')

    def test_loaders_that_accelerate_prepares(self):
        made = ('from accelerate import Accelerator\naccelerator = Accelerator()\n'
                'data = datasets.ImageFolder("photos", '
                'transforms.Compose([transforms.Resize((8, 8)), transforms.ToTensor()]))\n')
        for use in ('loader = DataLoader(data, 8)\nmodel, loader = accelerator.prepare(model, loader)\n',
                    'loader = accelerator.prepare(DataLoader(data, 8))\n'):
            result = changed(made + use)
            self.assertEqual(result.done, [])
            self.assertRegex('\n'.join(result.left), r'prepares it with Accelerate: .* recpack_io.huggingface.prepare')

    def test_other_uses_of_a_data_set(self):
        made = ('data = datasets.ImageFolder("photos", transforms.Compose([transforms.RandomResizedCrop(96), '
                'transforms.ToTensor()]))\nloader = DataLoader(data, batch_size=8)\n')
        for use in 'for image, label in data:\n    pass\n', 'image, label = data[0]\n', 'show([data])\n':
            result = changed(made + use)
            self.assertEqual(result.done, [])
            self.assertRegex('\n'.join(result.left), 'line 6 uses its data set too')

    def test_names_that_change(self):
        """A value is the one of the last line before, and fields are made while it is that."""
        result = changed('''
            size = 64
            steps = transforms.Compose([transforms.RandomResizedCrop(size), transforms.ToTensor()])
            train = datasets.ImageFolder("train", steps)
            size = [96, 96][0]
            steps = transforms.Compose([transforms.Resize((size, size)), policy, transforms.ToTensor()])
            val = datasets.ImageFolder("val", steps)
            loader, other = DataLoader(train, 8), DataLoader(val, 8)
            print(loader.dataset.classes)
            steps = None
            ''')
        for line in ('train = recpack_io.open("train") train_fields = [recpack_io.Image(crop="random-resized", '
                     'height=size, width=size,', 'val_fields = [recpack_io.Image(then=steps, height=size, width=size),',
                     'Loader(train, fields=train_fields,', 'Loader(val, fields=val_fields,',
                     'print(loader.dataset.class_names)'):
            self.assertIn(line, squeezed(result.text))
        result = changed('''
            for steps in several:
                pass
            loader = DataLoader(datasets.ImageFolder("train", transforms.Compose(steps)), 8)
            ''')
        self.assertRegex('\n'.join(result.left), 'size of its images is not told .its list is made elsewhere')

    def test_what_is_read_of_a_loaders_data_set(self):
        made = ('loader = DataLoader(datasets.ImageFolder("photos", transforms.Compose([transforms.Resize((8, 8)), '
                'transforms.ToTensor()])), batch_size=8)\n')
        self.assertIn('print(loader.dataset.class_names)', changed(f'{made}print(loader.dataset.classes)\n').text)
        result = changed(f'{made}print(loader.dataset.targets)\n')
        self.assertRegex('\n'.join(result.left), 'line 5 reads the targets of its data set')

    def test_names_that_the_program_has(self):
        result = changed('class Loader:\n    pass\ndata = datasets.ImageFolder("photos", transforms.Compose(['
                         'transforms.Resize((8, 8)), transforms.ToTensor()]))\nloader = DataLoader(data, 8)\n')
        self.assertIn('import recpack_io.torch\n', result.text)
        self.assertIn('loader = recpack_io.torch.Loader(data', result.text)


if __name__ == '__main__':
    main()

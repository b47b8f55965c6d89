"""Trains a classifier, in the shape of public reference scripts: data sets of one function, loaders of another."""
import argparse
import os

import recipes
import torch
import torch.utils.data
import torchvision
from mixing import RepeatingSampler, mixed
from torch import nn
from torch.utils.data.dataloader import default_collate
from torchvision.transforms.functional import InterpolationMode


def train_one_epoch(model, criterion, optimizer, loader, device):
    model.train()
    for number, (image, target) in enumerate(loader):
        image, target = image.to(device), target.to(device)
        loss = criterion(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f'step {number}: {tuple(image.shape)} {tuple(target.shape)} {image.dtype}')


def evaluate(model, criterion, loader, device, kept):
    model.eval()
    total = seen = 0
    images = []
    with torch.inference_mode():
        for image, target in loader:
            output = model(image.to(device, non_blocking=True))
            total += criterion(output, target.to(device)).item() * image.shape[0]
            seen += image.shape[0]
            images.append(image)
    if hasattr(loader.dataset, '__len__') and len(loader.dataset) != seen:
        print(f'{seen} samples of {len(loader.dataset)}')
    print(f'evaluated {seen}: {total / seen:.3f}')
    torch.save(torch.cat(images), kept)


def cache_of(path):
    return os.path.join(os.path.dirname(path), os.path.basename(path) + '.pt')


def load(train_path, val_path, args):
    shorter, val_side, train_side = args.val_resize, args.val_side, args.train_side
    interpolation = InterpolationMode(args.interpolation)

    cached = cache_of(train_path)
    if args.cache_dataset and os.path.exists(cached):
        dataset, _ = torch.load(cached, weights_only=False)
    else:
        # These have no attribute in older scripts.
        policy = getattr(args, 'policy', None)
        erased = getattr(args, 'erased', 0.0)
        dataset = torchvision.datasets.ImageFolder(
            train_path,
            recipes.Training(
                side=train_side,
                interpolation=interpolation,
                policy=policy,
                erased=erased,
                magnitude=args.magnitude,
                kind=args.kind,
                newer=args.newer,
            ),
        )
        if args.cache_dataset:
            torch.save((dataset, train_path), cached)

    if args.weights and args.test_only:
        weights = torchvision.models.get_weight(args.weights)
        preprocessing = weights.transforms(antialias=True)
        if args.kind == 'tensor':
            preprocessing = torchvision.transforms.Compose([torchvision.transforms.PILToTensor(), preprocessing])
    else:
        preprocessing = recipes.Evaluation(
            side=val_side, shorter=shorter, interpolation=interpolation, kind=args.kind, newer=args.newer)
    dataset_test = torchvision.datasets.ImageFolder(val_path, preprocessing)

    if args.distributed:
        if hasattr(args, 'repeated') and args.repeated:
            train_sampler = RepeatingSampler(dataset, repetitions=args.repeated)
        else:
            train_sampler = torch.utils.data.distributed.DistributedSampler(dataset)
        test_sampler = torch.utils.data.distributed.DistributedSampler(dataset_test, shuffle=False)
    else:
        train_sampler = torch.utils.data.RandomSampler(dataset)
        test_sampler = torch.utils.data.SequentialSampler(dataset_test)
    return dataset, dataset_test, train_sampler, test_sampler


def main(args):
    torch.manual_seed(1)
    args.distributed = int(os.environ.get('WORLD_SIZE', 1)) > 1
    if args.distributed:
        torch.distributed.init_process_group('gloo')
    device = torch.device(args.device)
    train_path, val_path = os.path.join(args.data, 'train'), os.path.join(args.data, 'val')
    dataset, dataset_test, train_sampler, test_sampler = load(train_path, val_path, args)

    num_classes = len(dataset.classes)
    mix = mixed(args.mixup, num_classes)
    if mix is not None:

        def collate_fn(batch):
            return mix(*default_collate(batch))

    else:
        collate_fn = default_collate

    data_loader = torch.utils.data.DataLoader(
        dataset,
        batch_size=args.batch_size,
        sampler=train_sampler,
        num_workers=args.workers,
        pin_memory=args.pinned,
        collate_fn=collate_fn,
    )
    data_loader_test = torch.utils.data.DataLoader(
        dataset_test, batch_size=args.batch_size, sampler=test_sampler, num_workers=args.workers, pin_memory=args.pinned
    )

    model = nn.Sequential(nn.Conv2d(3, 4, 5, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(4, num_classes)).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    if args.distributed:
        model = nn.parallel.DistributedDataParallel(model)

    for epoch in range(args.epochs):
        if args.distributed and hasattr(train_sampler, 'set_epoch'):
            train_sampler.set_epoch(epoch)
        train_one_epoch(model, criterion, optimizer, data_loader, device)
        evaluate(model, criterion, data_loader_test, device, args.kept)
    if args.distributed:
        torch.distributed.destroy_process_group()


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument('--data', default='photos')
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--kept', default='evaluated.pt')
    parser.add_argument('--batch-size', default=8, type=int)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('--workers', default=0, type=int)
    parser.add_argument('--lr', default=0.0, type=float)
    parser.add_argument('--mixup', default=0.0, type=float)
    parser.add_argument('--policy')
    parser.add_argument('--magnitude', default=9, type=int)
    parser.add_argument('--erased', default=0.0, type=float)
    parser.add_argument('--interpolation', default='bilinear')
    parser.add_argument('--val-resize', default=96, type=int)
    parser.add_argument('--val-side', default=64, type=int)
    parser.add_argument('--train-side', default=64, type=int)
    parser.add_argument('--kind', default='pil')
    parser.add_argument('--weights')
    parser.add_argument('--repeated', default=0, type=int)
    for flag in '--cache-dataset', '--test-only', '--newer', '--pinned':
        parser.add_argument(flag, action='store_true')
    return parser.parse_args()


if __name__ == '__main__':
    main(parsed())

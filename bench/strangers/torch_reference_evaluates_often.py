"""The reference loop scores its validation set every fourth step, by a mean average precision in plain Python.

environment: vision; cause: host
"""
import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def get_args_parser():
    parser = argparse.ArgumentParser(description='Multi-label training')
    parser.add_argument('--batch-size', default=32, type=int)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('--lr', default=0.01, type=float)
    parser.add_argument('--workers', default=1, type=int)
    parser.add_argument('--eval-freq', default=4, type=int)
    parser.add_argument('--print-freq', default=20, type=int)
    return parser


def average_precision(scores, wanted):
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    precision, recall, hits = [], [], 0
    total = max(1, sum(wanted))
    for rank, index in enumerate(order, 1):
        hits += wanted[index]
        precision.append(hits / rank)
        recall.append(hits / total)
    area = 0.0
    for point in range(101):
        area += max([p for p, r in zip(precision, recall) if r >= point / 100], default=0.0)  # planted
    return area / 101


@torch.inference_mode()
def evaluate(model, images, targets):
    model.eval()
    scores = model(images).sigmoid()
    classes = [average_precision(scores[:, k].tolist(), targets[:, k].int().tolist())  # planted
               for k in range(targets.shape[1])]
    model.train()
    return sum(classes) / len(classes)


def train_one_epoch(model, criterion, optimizer, data_loader, validation, epoch, args):
    model.train()
    start = time.time()
    for i, (image, target) in enumerate(data_loader):
        output = model(image)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % args.eval_freq == 0:
            score = evaluate(model, *validation)  # planted
        if i % args.print_freq == 0:
            print(f'Epoch: [{epoch}] [{i}/{len(data_loader)}] loss {loss.item():.4f} mAP {score:.4f} '
                  f'time {time.time() - start:.1f}')


def main(args):
    torch.manual_seed(0)
    images, targets = torch.rand(2560, 3, 32, 32), (torch.rand(2560, 20) < 0.3).float()
    validation = torch.rand(2000, 3, 32, 32), (torch.rand(2000, 20) < 0.3).float()
    data_loader = DataLoader(TensorDataset(images, targets), batch_size=args.batch_size, shuffle=True,
                             num_workers=args.workers)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 512), nn.ReLU(), nn.Linear(512, 20))
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        train_one_epoch(model, criterion, optimizer, data_loader, validation, epoch, args)


if __name__ == '__main__':
    main(get_args_parser().parse_args())

"""recpack_io.torch on a real GPU: batches on the device are those of the host, while the device is
slow and the loader quick, and copies run beside the device's work.

    python tests/python/gpu_torch.py [WHEEL] [--epochs N]

WHEEL: unpacked into a folder of its own and used, where recpack_io is not installed. Prints a line
of JSON for each check, or one that says what is not there; ends with 1 if one failed.
"""
import argparse
import json
import sys
import tempfile
import time
import zipfile

flags = argparse.ArgumentParser()
flags.add_argument('wheel', nargs='?')
flags.add_argument('--epochs', type=int, default=20)
given = flags.parse_args()
work = tempfile.TemporaryDirectory(prefix='recpack-gpu-')
if given.wheel:
    zipfile.ZipFile(given.wheel).extractall(f'{work.name}/packages')
    sys.path.insert(0, f'{work.name}/packages')

try:
    import numpy as np
    import recpack_io
    import torch
    from recpack_io.torch import Loader
    lacks = None if torch.cuda.is_available() else 'PyTorch finds no GPU'
except ImportError as error:
    lacks = str(error)
if lacks:
    print(json.dumps({'unavailable': lacks}))
    sys.exit(0)

DEVICE = torch.device('cuda:0')
RECORDS, BATCH = 4096, 256


def records():
    random = np.random.default_rng(1)
    for number in range(RECORDS):
        yield {'image': random.integers(0, 256, 3072, np.uint8), 'label': number % 10}


def loader(dataset, **options):
    return Loader(dataset, 'cifar10-train', batch_size=BATCH, seed=1, **options)


def busy(matrix, times):
    for _ in range(times):
        matrix = torch.nn.functional.normalize(matrix @ matrix)
    return matrix


def equal_batches(dataset, **options):
    """Batches on the device that are not the host's. They are looked at behind much other work."""
    matrix = torch.randn(2048, 2048, device=DEVICE)
    wrong = torch.zeros((), dtype=torch.int64, device=DEVICE)
    batches = 0
    host, device = loader(dataset), loader(dataset, device=DEVICE, **options)
    for _ in range(given.epochs):
        for mine, there in zip(host, device, strict=True):
            matrix = busy(matrix, 2)
            for name, tensor in mine.items():
                wrong += (there[name] != tensor.to(DEVICE)).any()
            batches += 1
    return {'batches': batches, 'failed_tests': int(wrong.item())}


def own_stream(dataset):
    """Copies of one's own out of page-locked memory, and record_stream()."""
    stream, kept = torch.cuda.Stream(DEVICE), []
    expected = [batch['image'].clone() for batch in loader(dataset)]
    mine = loader(dataset, page_lock=True)
    pinned = True
    for batch in mine:
        pinned = pinned and batch['image'].is_pinned()
        with torch.cuda.stream(stream):
            busy(torch.randn(1024, 1024, device=DEVICE), 4)
            kept.append(batch['image'].to(DEVICE, non_blocking=True))
        batch.record_stream(stream)
        del batch
    torch.cuda.synchronize()
    wrong = sum(not torch.equal(there.cpu(), host)
                for there, host in zip(kept, expected, strict=True))
    return {'batches': len(kept), 'failed_tests': wrong + (not pinned)}


def overlap(dataset):
    """Seconds of an epoch: the device's work alone, with batches that are copied in between, and
    with those that are copied ahead."""
    matrix = torch.randn(2048, 2048, device=DEVICE)
    seconds = {}
    for name, batches in (('work alone', None), ('copied in its stream', loader(dataset)),
                          ('ahead', loader(dataset, device=DEVICE))):
        for _ in range(2):  # the first warms up
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for batch in batches if batches is not None else range(RECORDS // BATCH):
                if name == 'copied in its stream':
                    batch = {key: tensor.to(DEVICE) for key, tensor in batch.items()}
                busy(matrix, 20)
            torch.cuda.synchronize()
            seconds[name] = round(time.perf_counter() - begin, 4)
    return {'seconds': seconds}


def main():
    recpack_io.pack(records(), f'{work.name}/shards')
    dataset = recpack_io.open(f'{work.name}/shards')
    small = {'ahead': 4, 'prefetch': 2}
    checks = {"batches on the device are the host's": lambda: equal_batches(dataset),
              'the same, four ahead of a ring of two': lambda: equal_batches(dataset, **small),
              'the same, not page-locked': lambda: equal_batches(dataset, page_lock=False),
              "copies of one's own from page-locked memory": lambda: own_stream(dataset),
              'an epoch': lambda: overlap(dataset)}
    failed = 0
    for name, check in checks.items():
        row = {'check': name, 'device': torch.cuda.get_device_name(DEVICE),
               'torch': torch.__version__} | check()
        print(json.dumps(row), flush=True)
        failed += row.get('failed_tests', 0)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()

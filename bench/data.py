#!/usr/bin/env python3
"""Makes the folder that the benches read, from the archives that everybody can download.

    python3 bench/data.py OUT [--cifar cifar-10-python.tar.gz] [--photos FOLDER]

Needs Pillow and NumPy (.venvs/vision has both). Without --cifar the archive is downloaded, and its
checksum is held to the published one. FOLDER: CLASS/NAME.JPEG, some real photos, for the rows about
photos; the published figures are from 160 files of ImageNet's training set, 110 KB on average.

    OUT/cifar-10-batches-py/                 the official pickles
    OUT/cifar10-jpeg/{train,test}/CLASS/     the same 60,000 pictures as JPEG files of quality 95
    OUT/imagenet-sample/                     a link to FOLDER
"""
import argparse
import hashlib
import pathlib
import pickle
import shutil
import sys
import tarfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'peers'))
from common import CIFAR_FILES, read_batch  # noqa: E402

URL = 'https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz'
MD5 = 'c58f30108f718f92721af3b95e74349a'  # as the page of the data set has it


def archive_of(given: pathlib.Path | None, out: pathlib.Path) -> pathlib.Path:
    if given:
        return given
    path = out / 'cifar-10-python.tar.gz'
    if not path.exists():
        part = path.with_suffix('.part')
        with urllib.request.urlopen(URL) as page, open(part, 'wb') as file:
            shutil.copyfileobj(page, file)
        if (found := hashlib.md5(part.read_bytes()).hexdigest()) != MD5:
            raise SystemExit(f'{part}: MD5 {found}, not {MD5}: remove it and download it again')
        part.rename(path)
    return path


def write_files(out: pathlib.Path) -> None:
    import numpy as np
    from PIL import Image
    batches = out / 'cifar-10-batches-py'
    names = pickle.loads((batches / 'batches.meta').read_bytes(), encoding='bytes')[b'label_names']
    part = out / 'cifar10-jpeg.part'
    shutil.rmtree(part, ignore_errors=True)
    for split, files in ('train', CIFAR_FILES[:5]), ('test', CIFAR_FILES[5:]):
        for name in names:
            (part / split / name.decode()).mkdir(parents=True)
        count = 0
        for file in files:
            rows, labels = read_batch(batches / file)
            for row, label in zip(rows.reshape(-1, 3, 32, 32), labels):
                picture = Image.fromarray(np.ascontiguousarray(row.transpose(1, 2, 0)))
                picture.save(part / split / names[label].decode() / f'{count:05d}.jpg', quality=95)
                count += 1
    part.rename(out / 'cifar10-jpeg')


def make(out: pathlib.Path, cifar: pathlib.Path | None, photos: pathlib.Path | None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if not (out / 'cifar-10-batches-py').is_dir():
        with tarfile.open(archive_of(cifar, out)) as tar:
            tar.extractall(out, filter='data')
    if not (out / 'cifar10-jpeg').is_dir():
        write_files(out)
    if photos and not (out / 'imagenet-sample').exists():
        (out / 'imagenet-sample').symlink_to(photos.resolve())


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('--cifar', type=pathlib.Path)
    parser.add_argument('--photos', type=pathlib.Path)
    options = parser.parse_args()
    make(options.out, options.cifar, options.photos)

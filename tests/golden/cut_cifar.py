#!/usr/bin/env python3
"""Writes tests/golden/cifar10: the first rows of each batch of the official CIFAR-10, bit-exact, as
python batches (in the opcodes of the originals), as binary batches and as an archive.

    python3 cut_cifar.py cifar-10-batches-py [ROWS]     (needs no package)
"""
import gzip
import io
import pathlib
import pickletools
import struct
import sys
import tarfile

OUT = pathlib.Path(__file__).resolve().parent / "cifar10"
PIXELS = 3072


def cut(batch: bytes, rows: int):
    """The first rows of a batch, as the bytes of a pickle, and its labels and pixels."""
    labels, pixels, names, seen, name_list = [], b"", [], {}, False
    for op, value, _ in pickletools.genops(batch):
        if op.name == "BINSTRING":
            pixels = value.encode("latin1")[: rows * PIXELS]
        elif op.name == "SHORT_BINSTRING":
            (names if name_list else seen.setdefault("keys", [])).append(value)
            name_list = name_list or value == "filenames"
        elif op.name == "BININT1" and seen.get("keys", [""])[-1] == "labels":
            labels.append(value)
    title = seen["keys"][seen["keys"].index("batch_label") + 1]
    return python2_pickle(title, labels[:rows], pixels, names[:rows]), labels[:rows], pixels


def short(text: str) -> bytes:
    return b"U" + bytes([len(text)]) + text.encode()


def python2_pickle(title, labels, pixels, names) -> bytes:
    rows = len(labels)
    array = (b"cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85U\x01b\x87"
             b"Rq\x09(K\x01" + (b"K" + bytes([rows])) + b"M\x00\x0c\x86cnumpy\ndtype\nq\x0aU\x02u1"
             b"K\x00K\x01\x87Rq\x0b(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"
             + struct.pack("<I", len(pixels)) + pixels + b"tb")
    return (b"\x80\x02}q\x01(" + short("batch_label") + b"q\x02" + short(title) + b"q\x03"
            + short("labels") + b"q\x04]q\x05(" + b"".join(b"K" + bytes([n]) for n in labels) + b"e"
            + short("data") + b"q\x06" + array
            + short("filenames") + b"](" + b"".join(short(n) for n in names) + b"eu.")


def main(source: pathlib.Path, rows: int):
    py, binary = OUT / "cifar-10-batches-py", OUT / "cifar-10-batches-bin"
    py.mkdir(parents=True, exist_ok=True)
    binary.mkdir(exist_ok=True)
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        pickled, labels, pixels = cut((source / name).read_bytes(), rows)
        (py / name).write_bytes(pickled)
        (binary / f"{name}.bin").write_bytes(b"".join(
            bytes([label]) + pixels[i * PIXELS:(i + 1) * PIXELS] for i, label in enumerate(labels)))
    meta = (source / "batches.meta").read_bytes()
    (py / "batches.meta").write_bytes(meta)
    names = [v for op, v, _ in pickletools.genops(meta) if op.name.endswith(("STRING", "UNICODE"))]
    names = [n for n in names if n not in ("num_cases_per_batch", "label_names", "num_vis")]
    (binary / "batches.meta.txt").write_text("\n".join(names) + "\n\n")
    with open(OUT / "cifar-10-python.tar.gz", "wb") as f, \
            gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z, \
            tarfile.open(fileobj=z, mode="w") as archive:
        folder = tarfile.TarInfo("cifar-10-batches-py/")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
        for path in sorted(py.iterdir()):
            info = tarfile.TarInfo(f"cifar-10-batches-py/{path.name}")
            info.size = path.stat().st_size
            archive.addfile(info, io.BytesIO(path.read_bytes()))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)

"""The safetensors package reads what recpack writes, and recpack reads what the package writes.

RECPACK_ARRAYS names the program that reads and writes ours (default: the one in build/release/).
"""
import hashlib
import os
import subprocess

import numpy as np
import safetensors
import safetensors.numpy

from support import ROOT, InFolder, main

ARRAYS = os.environ.get('RECPACK_ARRAYS', str(ROOT / 'build/release/tests/interop/arrays'))
# Our names of the types, those of the package's numpy-like names, and those in files.
TYPES = {'u8': ('uint8', 'U8', 1), 'i32': ('int32', 'I32', 4), 'i64': ('int64', 'I64', 8),
         'f16': ('float16', 'F16', 2), 'bf16': ('bfloat16', 'BF16', 2), 'f32': ('float32', 'F32', 4),
         'u64': ('uint64', 'U64', 8)}


def run(*words) -> str:
    done = subprocess.run([ARRAYS, *map(str, words)], capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f'arrays {words}: exit {done.returncode}: {done.stderr.decode()}')
    return done.stdout.decode()


def listed(path) -> tuple[dict, dict]:
    """(metadata, {name: (type, shape, bytes)}) as recpack reads the file."""
    metadata, arrays = run('list', path).split('--\n')
    read = {}
    for line in arrays.splitlines():
        name, kind, shape, data = line.split(' ')
        shape = [] if shape == '-' else [int(size) for size in shape.split('x')]
        read[name] = (kind, shape, bytes.fromhex(data))
    return dict(line.split(' ', 1) for line in metadata.splitlines()), read


def package_writes(path, arrays: dict, metadata) -> None:
    """Writes {name: (the package's type, shape, bytes)}, of the types that numpy lacks, too."""
    buffers = {name: np.frombuffer(data, np.uint8) for name, (_, _, data) in arrays.items()}
    safetensors.serialize_file(
        {name: safetensors.TensorSpec(dtype=dtype, shape=shape, data_len=len(data),
                                      data_ptr=buffers[name].ctypes.data)
         for name, (dtype, shape, data) in arrays.items()}, path, metadata)


class TheyReadOurs(InFolder):

    def setUp(self):
        super().setUp()
        self.path = self.folder / 'ours.safetensors'
        run('write', self.path)

    def test_every_type(self):
        there = dict(safetensors.deserialize(self.path.read_bytes()))
        expected = {name: (file_type, [3, 1, 5], bytes(range(15 * size)))
                    for name, (_, file_type, size) in TYPES.items()}
        expected |= {'scalar': ('F32', [], bytes(range(4))), 'empty': ('F32', [2, 0], b''),
                     '"größe"': ('U8', [2], bytes(range(2)))}
        self.assertEqual({name: (array['dtype'], list(array['shape']), bytes(array['data']))
                          for name, array in there.items()}, expected)

    def test_metadata_and_numpy_arrays(self):
        with safetensors.safe_open(self.path, framework='numpy') as file:
            metadata = file.metadata()
            np.testing.assert_array_equal(
                file.get_tensor('i32'),
                np.frombuffer(bytes(range(60)), dtype='<i4').reshape(3, 1, 5))
        self.assertEqual(metadata.pop('model'), '"größe"\t')
        self.assertEqual(metadata.pop('empty'), '')
        self.assertEqual(list(metadata), ['recpack.sha256'])

    def test_checksum_as_documented(self):
        content = self.path.read_bytes()
        with safetensors.safe_open(self.path, framework='numpy') as file:
            digits = file.metadata()['recpack.sha256'].encode()
        self.assertEqual(content.count(digits), 1)
        self.assertEqual(hashlib.sha256(content.replace(digits, b'0' * 64)).hexdigest().encode(),
                         digits)


class WeReadTheirs(InFolder):

    def setUp(self):
        super().setUp()
        self.path = self.folder / 'theirs.safetensors'

    def test_every_type(self):
        arrays = {f'größe.{name}': (dtype, [5, 1, 3], bytes(reversed(range(15 * size))))
                  for name, (dtype, _, size) in TYPES.items()}
        arrays['scalar'] = ('float32', [], b'abcd')
        arrays['empty'] = ('int64', [0, 7], b'')
        package_writes(self.path, arrays, {'format': 'pt', 'text': '"größe"'})
        metadata, read = listed(self.path)
        self.assertEqual(metadata, {'format': 'pt', 'text': '"größe"'})
        ours = {dtype: name for name, (dtype, _, _) in TYPES.items()}
        self.assertEqual(read, {name: (ours[dtype], shape, data)
                                for name, (dtype, shape, data) in arrays.items()})

    def test_numpy_arrays_without_metadata(self):
        values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        safetensors.numpy.save_file({'w': values, 'b': values[0, 0].copy()}, self.path)
        metadata, read = listed(self.path)
        self.assertEqual(metadata, {})
        self.assertEqual(read, {'w': ('f32', [2, 3, 4], values.tobytes()),
                                'b': ('f32', [4], values[0, 0].tobytes())})

    def test_a_copy_of_ours_by_their_hand(self):
        ours = self.folder / 'ours.safetensors'
        run('write', ours)
        names = {file_type: dtype for dtype, file_type, _ in TYPES.values()}
        package_writes(self.path, {
            name: (names[array['dtype']], array['shape'], bytes(array['data']))
            for name, array in safetensors.deserialize(ours.read_bytes())}, None)
        self.assertEqual(listed(self.path)[1], listed(ours)[1])


if __name__ == '__main__':
    main()

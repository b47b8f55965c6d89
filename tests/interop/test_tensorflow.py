"""TensorFlow reads what recpack writes, and recpack reads what TensorFlow writes."""
import math
import os
import pathlib
import struct

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = ''

import tensorflow as tf

from support import (CIFAR, CIFAR_SPLITS, COMPRESSIONS, GOLDEN, InFolder, cat, golden_rows, main,
                     pack, recpack_json, shards)

TF_NAME = {'none': '', 'gzip': 'GZIP', 'zlib': 'ZLIB'}
CIFAR_FEATURES = {'image': tf.io.FixedLenFeature([], tf.string),
                  'label': tf.io.FixedLenFeature([], tf.int64)}


def read(paths, compression: str = 'none') -> list[bytes]:
    """The payloads, by TensorFlow, which checks their CRCs."""
    dataset = tf.data.TFRecordDataset(paths, compression_type=TF_NAME[compression])
    return list(dataset.as_numpy_iterator())


def write(path: pathlib.Path, payloads: list[bytes], compression: str = 'none') -> None:
    with tf.io.TFRecordWriter(str(path), options=TF_NAME[compression]) as writer:
        for payload in payloads:
            writer.write(payload)


def example(**features) -> bytes:
    """A list of bytes, int or float (or a ready Feature) a name."""
    def feature(values):
        if isinstance(values, tf.train.Feature):
            return values
        if isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if isinstance(values[0], int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Example(features=tf.train.Features(
        feature={name: feature(values) for name, values in features.items()})).SerializeToString()


def every_kind() -> list[bytes]:
    """Examples with every kind of list, at its extremes."""
    return [
        example(image=[bytes(range(256))], label=[7]),
        example(many=[b'', b'\0', 'größe'.encode(), b'x' * 1000], numbers=[0, 1, -1, 2**63 - 1,
                                                                           -2**63]),
        example(floats=[0.0, -0.0, 1.5, 3.4028235e38, 1e-45, math.inf, -math.inf, math.nan]),
        example(none=tf.train.Feature(), empty=tf.train.Feature(int64_list=tf.train.Int64List()),
                nothing=tf.train.Feature(bytes_list=tf.train.BytesList())),
        example(**{'ключ/имя': [1], 'a b': [b'c']}),
        example(),
        example(large=[os.urandom(3_000_000)]),
    ]


def expected(payload: bytes) -> dict:
    """The same form as support.features_of(), by TensorFlow's own parser."""
    names = {'bytes_list': 'bytesList', 'int64_list': 'int64List', 'float_list': 'floatList'}

    def plain(value):
        if isinstance(value, float):
            return b'NaN' if math.isnan(value) else struct.pack('<f', value)
        return value
    parsed = tf.train.Example.FromString(payload).features.feature
    features = {}
    for name, feature in parsed.items():
        kind = feature.WhichOneof('kind')
        values = getattr(feature, kind).value if kind else []
        features[name] = (names.get(kind), [plain(value) for value in values])
    return features


class TensorFlowReadsOurs(InFolder):
    def test_cifar_rows_come_out_bit_for_bit(self):
        for compression in COMPRESSIONS:
            out = self.folder / compression
            pack(CIFAR, out, '--from', 'cifar10', '--compression', compression)
            for split in CIFAR_SPLITS:
                with self.subTest(compression=compression, split=split):
                    rows = []
                    for payload in read(shards(out, split), compression):
                        row = tf.io.parse_single_example(payload, CIFAR_FEATURES)
                        rows.append((row['image'].numpy(), int(row['label'])))
                    self.assertEqual(rows, golden_rows(split))

    def test_examples_are_the_bytes_that_protobuf_writes(self):
        pack(CIFAR, self.folder / 'out', '--from', 'cifar10')
        for payload in read(shards(self.folder / 'out', 'train')):
            parsed = tf.train.Example.FromString(payload)
            self.assertEqual(payload, parsed.SerializeToString(deterministic=True))

    def test_folder_of_images(self):
        files = {'cat': ['real_420.jpg', 'real_gray.jpg'], 'dog': ['rgb.png']}
        for label, names in files.items():
            (self.folder / 'in' / label).mkdir(parents=True)
            for name in names:
                (self.folder / 'in' / label / name).write_bytes(
                    (GOLDEN / 'image' / name).read_bytes())
        result = pack(self.folder / 'in', self.folder / 'out', '--from', 'folder')
        self.assertEqual(result['records'], 3)
        seen = {}
        for shard in result['shards']:
            for payload in read(shard['path']):
                f = tf.train.Example.FromString(payload).features.feature
                name = pathlib.Path(f['image/filename'].bytes_list.value[0].decode()).name
                text = f['image/class/text'].bytes_list.value[0].decode()
                encoded = f['image/encoded'].bytes_list.value[0]
                self.assertEqual(encoded, (self.folder / 'in' / text / name).read_bytes())
                shape = tf.io.decode_image(encoded).shape
                self.assertEqual([f['image/height'].int64_list.value[0],
                                  f['image/width'].int64_list.value[0]], list(shape[:2]))
                seen[name] = (text, f['image/class/label'].int64_list.value[0])
        self.assertEqual(seen, {'real_420.jpg': ('cat', 0), 'real_gray.jpg': ('cat', 0),
                                'rgb.png': ('dog', 1)})

    def test_compressed_shards_with_many_flush_points(self):
        payloads = [example(image=[os.urandom(1000) * 20], label=[i]) for i in range(300)]
        write(self.folder / 'in.tfrecord', payloads)
        for compression in COMPRESSIONS:
            with self.subTest(compression=compression):
                out = self.folder / compression
                result = pack(self.folder / 'in.tfrecord', out, '--from', 'tfrecord',
                              '--compression', compression)
                found = [payload for shard in result['shards']
                         for payload in read(shard['path'], compression)]
                self.assertEqual(found, payloads)

    def test_notices_a_flipped_byte(self):
        """That is: the CRCs in our shards are those that TensorFlow checks."""
        pack(CIFAR, self.folder / 'out', '--from', 'cifar10')
        path = pathlib.Path(shards(self.folder / 'out', 'eval')[0])
        for offset in 0, 8, 100, path.stat().st_size - 1:
            with self.subTest(offset=offset):
                data = bytearray(path.read_bytes())
                data[offset] ^= 1
                flipped = self.folder / 'flipped.tfrecord'
                flipped.write_bytes(data)
                with self.assertRaises(tf.errors.DataLossError):
                    read(str(flipped))


class WeReadTensorFlows(InFolder):
    def test_every_kind_value_for_value(self):
        payloads = every_kind()
        for compression in COMPRESSIONS:
            with self.subTest(compression=compression):
                path = self.folder / f'{compression}.tfrecord'
                write(path, payloads, compression)
                self.assertEqual(cat(path), [expected(payload) for payload in payloads])

    def test_verify_finds_nothing_and_counts_all(self):
        payloads = every_kind()
        for compression in COMPRESSIONS:
            with self.subTest(compression=compression):
                path = self.folder / f'{compression}.tfrecord'
                write(path, payloads, compression)
                result = recpack_json('verify', path)
                self.assertEqual(result['records'], len(payloads))
                self.assertEqual(result['findings'], [])

    def test_records_are_passed_on_as_they_are(self):
        payloads = every_kind()
        for compression in COMPRESSIONS:
            with self.subTest(compression=compression):
                path = self.folder / f'{compression}.tfrecord'
                write(path, payloads, compression)
                result = pack(path, self.folder / f'out-{compression}', '--from', 'tfrecord')
                found = [payload for shard in result['shards'] for payload in read(shard['path'])]
                self.assertEqual(found, payloads)

    def test_a_flipped_byte_is_a_finding(self):
        payloads = every_kind()
        write(self.folder / 'good.tfrecord', payloads)
        data = bytearray((self.folder / 'good.tfrecord').read_bytes())
        second = len(payloads[0]) + 16
        data[second + 20] ^= 1
        (self.folder / 'bad.tfrecord').write_bytes(data)
        result = recpack_json('verify', self.folder / 'bad.tfrecord', expect=1)
        self.assertEqual([(f['offset'], f['ordinal']) for f in result['findings']], [(second, 1)])


if __name__ == '__main__':
    main()

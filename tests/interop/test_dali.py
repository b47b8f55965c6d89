"""NVIDIA DALI reads our shards through our .idx files (CPU pipelines)."""
import pathlib
import subprocess
import sys

from nvidia.dali import fn, pipeline_def
import nvidia.dali.tfrecord as tfrecord

from support import CIFAR, CIFAR_SPLITS, GOLDEN, InFolder, golden_rows, main, pack, shards


def read(paths: list[str], features: dict, count: int, operate=lambda row: tuple(row)) -> list:
    """`count` samples, each a tuple of numpy arrays; `operate` makes the outputs from a row."""
    @pipeline_def(batch_size=1, num_threads=2, device_id=None)
    def pipeline():
        row = fn.readers.tfrecord(path=paths, index_path=[path + '.idx' for path in paths],
                                  features=features, random_shuffle=False)
        return operate([row[name] for name in features])
    running = pipeline()
    running.build()
    return [tuple(output.at(0).copy() for output in running.run()) for _ in range(count)]


class DaliReadsOurs(InFolder):
    def test_cifar_rows_come_out_bit_for_bit(self):
        out = self.folder / 'out'
        pack(CIFAR, out, '--from', 'cifar10', '--shards', '3', '--dali-index')
        features = {'image': tfrecord.FixedLenFeature((), tfrecord.string, ''),
                    'label': tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
        for split in CIFAR_SPLITS:
            with self.subTest(split=split):
                rows = golden_rows(split)
                found = read(shards(out, split), features, len(rows))
                self.assertEqual([(image.tobytes(), int(label[0])) for image, label in found],
                                 rows)

    def test_the_index_is_the_one_that_its_own_tool_writes(self):
        out = self.folder / 'out'
        pack(CIFAR, out, '--from', 'cifar10', '--dali-index')
        tool = pathlib.Path(sys.executable).parent / 'tfrecord2idx'
        for split in CIFAR_SPLITS:
            for path in shards(out, split):
                theirs = self.folder / 'theirs.idx'
                subprocess.run([sys.executable, tool, path, theirs], check=True)
                self.assertEqual(pathlib.Path(path + '.idx').read_text(encoding='ascii').split(),
                                 theirs.read_text(encoding='ascii').split())

    def test_decodes_our_images(self):
        names = ['real_420.jpg', 'real_422.jpg', 'real_444.jpg']
        (self.folder / 'in' / 'some').mkdir(parents=True)
        for name in names:
            (self.folder / 'in' / 'some' / name).write_bytes(
                (GOLDEN / 'image' / name).read_bytes())
        result = pack(self.folder / 'in', self.folder / 'out', '--from', 'folder', '--dali-index')
        features = {'image/encoded': tfrecord.FixedLenFeature((), tfrecord.string, ''),
                    'image/height': tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
                    'image/width': tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
        found = read([shard['path'] for shard in result['shards']], features, len(names),
                     lambda row: (fn.decoders.image(row[0], device='cpu'), row[1], row[2]))
        for pixels, height, width in found:
            self.assertEqual(pixels.shape, (int(height[0]), int(width[0]), 3))


if __name__ == '__main__':
    main()

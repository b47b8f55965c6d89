"""recpack reads the tars that the WebDataset package writes."""
import json

import webdataset

from support import CIFAR_SPLITS, GOLDEN, InFolder, cat, golden_rows, main, pack


def write(pattern: str, samples: list[dict], per_shard: int, **more) -> None:
    with webdataset.ShardWriter(pattern, maxcount=per_shard, verbose=0, **more) as writer:
        for sample in samples:
            writer.write(sample)


def images() -> list[dict]:
    names = ['real_420.jpg', 'real_422.jpg', 'real_444.jpg', 'real_gray.jpg', 'prime.jpg']
    return [{'__key__': f'photos/{i:04d}', 'jpg': (GOLDEN / 'image' / name).read_bytes(),
             'cls': i % 3, 'txt': f'größe {i}', 'json': {'name': name, 'at': i}}
            for i, name in enumerate(names)]


def packed(result: dict) -> list[dict]:
    return [record for shard in result['shards'] for record in cat(shard['path'])]


class WeReadWebDatasetTars(InFolder):
    def expect(self, records: list[dict], samples: list[dict]):
        self.assertEqual(len(records), len(samples))
        for record, sample in zip(records, samples):
            self.assertEqual(record['jpg'], ('bytesList', [sample['jpg']]))
            self.assertEqual(record['cls'], ('int64List', [sample['cls']]))
            self.assertEqual(record['txt'], ('bytesList', [sample['txt'].encode()]))
            self.assertEqual(json.loads(record['json'][1][0]), sample['json'])
            self.assertEqual(record['__key__'], ('bytesList', [sample['__key__'].encode()]))

    def test_every_member_becomes_a_feature(self):
        write(f'{self.folder}/in-%05d.tar', images(), 100)
        result = pack(self.folder / 'in-00000.tar', self.folder / 'out', '--from', 'tar')
        self.expect(packed(result), images())

    def test_several_shards_keep_their_order(self):
        (self.folder / 'in').mkdir()
        write(f'{self.folder}/in/%05d.tar', images(), 2)
        self.assertEqual(len(list((self.folder / 'in').iterdir())), 3)
        result = pack(self.folder / 'in', self.folder / 'out', '--from', 'tar')
        self.expect(packed(result), images())

    def test_compressed_tars(self):
        write(f'{self.folder}/in-%05d.tar.gz', images(), 100)
        head = (self.folder / 'in-00000.tar.gz').read_bytes()[:2]
        self.assertEqual(head, b'\x1f\x8b', 'the package is expected to compress by the name')
        result = pack(self.folder / 'in-00000.tar.gz', self.folder / 'out', '--from', 'tar')
        self.expect(packed(result), images())

    def test_cifar_rows_come_out_bit_for_bit(self):
        rows = [row for split in CIFAR_SPLITS for row in golden_rows(split)]
        write(f'{self.folder}/in-%05d.tar', [
            {'__key__': f'{i:08d}', 'bin': image, 'cls': label}
            for i, (image, label) in enumerate(rows)], 1000)
        result = pack(self.folder / 'in-00000.tar', self.folder / 'out', '--from', 'tar')
        found = [(record['bin'][1][0], record['cls'][1][0]) for record in packed(result)]
        self.assertEqual(found, rows)


if __name__ == '__main__':
    main()

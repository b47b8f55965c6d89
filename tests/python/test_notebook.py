"""Data sets and loaders show themselves in a notebook."""
import base64
import html.parser
import re

import recpack_io
from recpack_io.notebook import size
from support import CIFAR, InFolder, main, pack, recpack


class Read(html.parser.HTMLParser):
    """Text and the attributes of elements; what is opened has to be closed."""

    def __init__(self, text):
        super().__init__()
        self.text, self.elements, self.open = '', [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag != 'img':
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data + ' '


class Notebook(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def test_one_line(self):
        self.assertEqual(repr(self.dataset), f"<recpack_io.Dataset '{self.folder}/shards', train: "
                                             f'{len(self.dataset)} records, 10 classes>')
        loader = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8)
        self.assertEqual(repr(loader), f'<recpack_io.Loader of {self.dataset!r}: cifar10-train, '
                                       f'{len(loader)} batches of 8 an epoch>')
        loader.close()
        self.assertEqual(repr(loader), f'<recpack_io.Loader of {self.dataset!r}, closed>')
        self.assertIn('closed', Read(loader._repr_html_()).text)

    def test_one_line_of_a_loader_of_fields_and_ranks(self):
        fields = [recpack_io.Numbers('label'), recpack_io.Id('number')]
        loader = recpack_io.Loader(self.dataset, fields=fields, batch_size=4, rank=1, world_size=2)
        self.assertEqual(repr(loader), f'<recpack_io.Loader of {self.dataset!r}: label, number, '
                                       f'{len(loader)} batches of 4 an epoch, rank 1 of 2>')

    def test_one_line_of_a_loader_that_is_not_complete(self):
        incomplete = recpack_io.Loader.__new__(recpack_io.Loader)
        self.assertEqual(repr(incomplete), '<recpack_io.Loader, not open>')

    def test_one_line_of_a_batch(self):
        _, batch, *_ = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8)
        self.assertEqual(repr(batch), '<recpack_io.Batch 1 of epoch 0: '
                                      'image float32 (8, 3, 32, 32), label int64 (8,)>')
        fields = recpack_io.recipe('cifar10-train', type='bf16')
        batch = next(iter(recpack_io.Loader(self.dataset, fields=fields, batch_size=8)))
        self.assertIn('image bfloat16, label', repr(batch))

    def test_what_is_in_a_data_set(self):
        page = Read(self.dataset._repr_html_())
        self.assertEqual(self.dataset.splits,
                         {split: len(recpack_io.open(self.folder / 'shards', split=split))
                          for split in ('train', 'validation', 'eval')})
        for said in (f'train: {len(self.dataset)} records', 'eval 16', 'image', 'bytes', '3,072',
                     'label', 'int64', '10 classes: airplane, automobile'):
            self.assertIn(said, page.text)

    def test_the_contact_sheet_is_the_programs(self):
        recpack('sheet', self.folder / 'shards', self.folder / 'sheet.png', '--split', 'train',
                '--columns', 5, '--rows', 3, '--cell', 40, '--seed', 7)
        sheet = self.dataset.sheet(columns=5, rows=3, cell=40, seed=7)
        self.assertEqual(sheet, (self.folder / 'sheet.png').read_bytes())
        page = Read(self.dataset._repr_html_())
        shown = [there['src'] for tag, there in page.elements if tag == 'img']
        self.assertEqual([base64.b64decode(source.split(',')[1]) for source in shown],
                         [self.dataset.sheet(columns=10, rows=2, cell=64)])
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'cells of 8 to 1024'):
            self.dataset.sheet(cell=3)

    def test_no_pictures(self):
        recpack_io.pack(({'text': f'line {i}', 'n': i} for i in range(20)), self.folder / 'lines')
        lines = recpack_io.open(self.folder / 'lines')
        with self.assertRaisesRegex(recpack_io.NotFoundError, 'holds a picture'):
            lines.sheet()
        page = Read(lines._repr_html_())
        self.assertIn('holds a picture', page.text)
        self.assertFalse([tag for tag, _ in page.elements if tag == 'img'])

    def test_a_damaged_data_set_is_shown_all_the_same(self):
        shard = next((self.folder / 'shards').glob('train-*'))
        data = bytearray(shard.read_bytes())
        data[self.dataset.place_of(0)[1] + 20] ^= 1
        shard.write_bytes(data)
        text = Read(recpack_io.open(self.folder / 'shards')._repr_html_()).text
        self.assertIn('CRC', text)
        self.assertIn('airplane', text)

    def test_names_are_no_markup(self):
        recpack_io.pack(({'<b>&': 1, 'label': 0} for _ in range(4)), self.folder / 'a<b>&',
                        class_names=['<script>alert(1)</script>'])
        page = Read(recpack_io.open(self.folder / 'a<b>&')._repr_html_())
        self.assertIn('<script>alert(1)</script>', page.text)
        self.assertIn('<b>&', page.text)
        self.assertNotIn('script', [tag for tag, _ in page.elements])

    def test_a_bar_a_stage(self):
        loader = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8, threads=2)
        for _ in loader:
            pass
        page = Read(loader._repr_html_())
        stats = loader.stats()
        worked = [name for name, stage in stats['stages'].items() if stage['count'] and name not in
                  ('room', 'input')]
        for said in (f'{len(loader)} batches given', 'share of 2 threads', *worked,
                     'waits for the program', 'image f32[3, 32, 32]'):
            self.assertIn(said, page.text)
        bars = [float(re.search(r'width:([\d.]+)%', there['style'])[1])
                for tag, there in page.elements if tag == 'div' and '%' in there.get('style', '')]
        self.assertGreaterEqual(len(bars), len(worked))
        self.assertTrue(all(0 <= bar <= 100 for bar in bars) and sum(bars) <= 101, bars)

    def test_sizes(self):
        self.assertEqual([size(number) for number in (0, 999, 1000, 12_345, 123_456_789, 10**16)],
                         ['0 B', '999 B', '1.0 KB', '12.3 KB', '123 MB', '10000 TB'])


if __name__ == '__main__':
    main()

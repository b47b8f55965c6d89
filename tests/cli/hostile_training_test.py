"""Hostile files under every command of rectrain: shards, checkpoints, sweeps, pictures, vocabularies."""
import json
import os
import shutil
import unittest

import hostile_tree
from hostile_files import DEEP_TEXTS, KINDS, png
from support import CIFAR, DONE, GOLDEN

RECTRAIN = os.environ['RECTRAIN']
SMALL = ('--width', '8', '--batch-size', '4')


class HostileTraining(hostile_tree.HostileData):
    program = RECTRAIN

    def setUp(self):
        super().setUp()
        self.pack_good()
        self.train('good')

    def train(self, data):
        self.run = self.folder / f'run of {data}'
        self.does('train', self.folder / data, *SMALL, '--threads', '1', '--max-steps', '1',
                  '--checkpoint-steps', '1', '--keep', '1', '--no-evaluation', '--checkpoints', self.run)
        self.checkpoint, = self.run.glob('*.safetensors')

    def reference_of_pictures(self):
        self.pack(self.photos('pictures'), out='pictures packed')
        self.train('pictures packed')
        return self.reference('pictures packed')

    def pack_good(self):
        self.pack(CIFAR / 'cifar-10-batches-py', out='good')

    def does(self, *words):
        """It can: what is refused below is not refused for another reason."""
        done = self.hold(RECTRAIN, *words, vouches=False)
        self.assertEqual(done.returncode, DONE, done.stderr)

    def commands(self, data):
        one = ('--threads', '1', '--no-evaluation')
        yield 'train', ['train', data, *SMALL, *one, '--epochs', '1'], True
        yield 'eval', ['eval', data, '--checkpoint', self.checkpoint, '--split', 'train',
                       '--threads', '1'], True
        yield 'eval --image', ['eval', data, '--checkpoint', self.checkpoint, '--image',
                               GOLDEN / 'image/rgb.png'], False
        yield 'sweep', ['sweep', data, *SMALL, '--steps', '1', '--rounds', '1', '--threads-list', '1'], True

    # Checkpoints.

    def with_header(self, change):
        """The checkpoint with another header, and without the sum that would tell."""
        whole = self.checkpoint.read_bytes()
        size = int.from_bytes(whole[:8], 'little')
        header = json.loads(whole[8:8 + size])
        header['__metadata__'].pop('recpack.sha256')
        header = change(header)
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return len(text).to_bytes(8, 'little') + text + whole[8 + size:]

    def with_metadata(self, **values):
        return self.with_header(
            lambda header: {**header, '__metadata__': {**header['__metadata__'], **values}})

    def with_array(self, **values):
        def change(header):
            name = next(name for name in header if name != '__metadata__')
            return {**header, name: {**header[name], **values}}
        return self.with_header(change)

    def attack_checkpoint(self, path, whole=False, evaluated=False):
        """`evaluated`: what is wrong matters to a training that goes on, not to its network."""
        good = self.folder / 'good'
        train = ('train', good, *SMALL, '--threads', '1', '--max-steps', '3', '--no-evaluation')
        for of in path, path.parent:
            self.hold(RECTRAIN, *train, '--resume', of, vouches=not whole)
            self.hold(RECTRAIN, *train, '--resume', of, '--checkpoints', path.parent, vouches=not whole)
            for more in (), ('--int8',), ('--image', GOLDEN / 'image/rgb.png'):
                self.hold(RECTRAIN, 'eval', good, '--checkpoint', of, '--threads', '1', *more,
                          vouches=not whole and not evaluated)

    def test_special_files_in_the_place_of_checkpoints(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.special(f'{kind}/{self.checkpoint.name}', kind)
                self.attack_checkpoint(self.folder / kind / self.checkpoint.name)
        self.path(f'folder/{self.checkpoint.name}/x')
        self.attack_checkpoint(self.folder / 'folder' / self.checkpoint.name)

    def test_special_files_beside_checkpoints(self):
        for kind in KINDS:
            for name in '.lock', 'step-x.safetensors', f'{self.checkpoint.name}.tmp-1':
                with self.subTest(kind=kind, name=name):
                    shutil.rmtree(self.folder / 'beside', ignore_errors=True)
                    shutil.copytree(self.run, self.folder / 'beside')
                    self.special(f'beside/{name}', kind)
                    self.attack_checkpoint(self.folder / 'beside' / self.checkpoint.name, whole=True)

    def test_checkpoints_that_are_not_what_they_were(self):
        whole = self.checkpoint.read_bytes()
        options = json.loads(json.loads(whole[8:8 + int.from_bytes(whole[:8], 'little')])
                             ['__metadata__']['model_options'])
        contents = {
            'emptied': b'', 'cut': whole[:-100], 'cut in the header': whole[:100], 'longer': whole + whole,
            'text': b'hello, I am no checkpoint', 'shorter than a length': b'abc',
            'a header of 2^63 bytes': bytes(7) + b'\x80' + whole[8:],
            'a header of no bytes': bytes(8) + whole[8:],
            'no UTF-8': self.with_header(lambda header: b'{"\xff": 1}'),
            'half an object': self.with_header(lambda header: b'{"a": {'),
            'a number beyond all': self.with_header(lambda header: b'{"a": 1e999}'),
            'a list': self.with_header(lambda header: []),
            'nothing': self.with_header(lambda header: {}),
            'metadata are a list': self.with_header(lambda header: {**header, '__metadata__': []}),
            'a text is a number': self.with_metadata(step=3),
            'an array is text': self.with_header(lambda header: {**header, 'a': 'b'}),
            'shape of less than none': self.with_array(shape=[-1]),
            'shape beyond all': self.with_array(shape=[2**62, 2**62]),
            'shape beyond integers': self.with_array(shape=[2**64]),
            'offsets beyond the end': self.with_array(data_offsets=[0, 2**63]),
            'offsets backwards': self.with_array(data_offsets=[8, 0]),
            'another type': self.with_array(dtype='F8_E4M3'), 'a type of number': self.with_array(dtype=8),
            'a step of less than none': self.with_metadata(step='-1'),
            'another version': self.with_metadata(format_version='2'),
            'another model': self.with_metadata(model='vgg'),
            'options are text': self.with_metadata(model_options='hello'),
            'options are a list': self.with_metadata(model_options='[]'),
            'a network beyond memory': self.with_metadata(
                model_options=json.dumps({**options, 'width': 2**31 - 1})),
            'no picture': self.with_metadata(model_options=json.dumps({**options, 'image': 0})),
            **{f'{name} header': self.with_header(lambda header, text=text: text.encode())
               for name, text in DEEP_TEXTS.items()},
            **{f'{name} metadata': self.with_header(
                lambda header, text=text: json.dumps(header)[:-1].encode() + b',"x":' + text.encode() + b'}')
               for name, text in DEEP_TEXTS.items()},
            **{f'{name} options': self.with_metadata(model_options=text)
               for name, text in DEEP_TEXTS.items()},
        }
        for name, content in contents.items():
            with self.subTest(name):
                self.write(f'damaged/{self.checkpoint.name}', content)
                self.attack_checkpoint(self.folder / 'damaged' / self.checkpoint.name)
        for token in '', 'recpack1.nonsense', 'x' * 100_000:
            with self.subTest(token=token[:20]):
                self.write(f'damaged/{self.checkpoint.name}', self.with_metadata(loader_token=token))
                self.attack_checkpoint(self.folder / 'damaged' / self.checkpoint.name, evaluated=True)

    # Other files.

    def sweep(self, *words, vouches):
        return self.hold(RECTRAIN, 'sweep', self.folder / 'good', *SMALL, '--steps', '1', '--rounds', '1',
                         '--threads-list', '1', '--out', self.folder / 'sweep', *words, vouches=vouches)

    def test_sweeps_to_go_on_with(self):
        self.assertEqual(self.sweep(vouches=False).returncode, DONE)
        file = self.folder / 'sweep/sweep.json'
        whole = file.read_text()
        good = json.loads(whole)
        row = good['rows'][0]
        run = row['runs'][0]
        texts = {
            'emptied': '', 'cut': whole[:-20], 'text': 'hello', 'number': '1', 'list': '[]', 'nothing': '{}',
            'rows are text': json.dumps({**good, 'rows': 'all'}),
            'no rows': json.dumps({**good, 'rows': []}),
            'runs are a number': json.dumps({**good, 'rows': [{**row, 'runs': 3}]}),
            'a run is text': json.dumps({**good, 'rows': [{**row, 'runs': ['x']}]}),
            'a round is text': json.dumps({**good, 'rows': [{**row, 'runs': [{**run, 'round': 'x'}]}]}),
            'no UTF-8': whole.encode() + b'\xff',
            **DEEP_TEXTS, 'deep member': whole.rstrip()[:-1] + ',"x":' + DEEP_TEXTS['deep and closed'] + '}'}
        for name, text in texts.items():
            with self.subTest(name):
                self.write('sweep/sweep.json', text)
                self.sweep('--resume', vouches=True)
                self.sweep(vouches=True)  # it would be written over
        for kind in KINDS:
            with self.subTest(kind):
                self.special('sweep/sweep.json', kind)
                self.sweep('--resume', vouches=kind != 'loop')
        self.write('file', '')
        self.hold(RECTRAIN, 'sweep', self.folder / 'good', '--out', self.folder / 'file', vouches=True)

    def test_pictures_and_names_of_classes(self):
        def classify(*words, vouches):
            self.hold(RECTRAIN, 'eval', '--checkpoint', self.checkpoint, '--threads', '1', *words,
                      vouches=vouches)

        good = GOLDEN / 'image/rgb.png'
        for kind in KINDS:
            with self.subTest(kind):
                self.special(kind, kind)
                classify('--image', self.folder / kind, vouches=True)
                classify('--image', good, '--names', self.folder / kind, vouches=True)
        pictures = {'empty': b'', 'text': b'hello', 'folder': None, 'jpeg header': b'\xff\xd8\xff',
                    'cut jpeg': (GOLDEN / 'image/real_420.jpg').read_bytes()[:400],
                    'no rows': png(0, 0, 8, 2, []),
                    'more than memory': png(2**31 - 1, 2**31 - 1, 8, 2, [b'']),
                    'large and empty': png(60_000, 60_000, 8, 2, [b''])}
        for name, content in pictures.items():
            with self.subTest(name):
                if content is None:
                    self.path(f'{name}/x')
                else:
                    self.write(name, content)
                classify('--image', self.folder / name, vouches=True)
                classify('--image', good, self.folder / name, '--json', vouches=True)
        self.write('thin.png', png(1, 4000, 8, 2, [bytes(3)] * 4000))
        classify('--image', self.folder / 'thin.png', vouches=False)
        for name, content in {'too few': b'a\nb\n', 'too many': b'a\n' * 100_000,
                              'zeros': bytes(1000)}.items():
            with self.subTest(name):
                self.write('names', content)
                classify('--image', good, '--names', self.folder / 'names', vouches=True)
        self.write('names', b'\xff\0\n' * 10)
        classify('--image', good, '--names', self.folder / 'names', '--json', vouches=False)

    def test_vocabularies(self):
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 100)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        train = ('train', self.folder / 'reviews', '--model', 'deepconn', '--max-tokens', '16', '--dims', '4',
                 '--filters', '4', '--latent', '4', '--factors', '4', '--threads', '1', '--no-evaluation',
                 '--epochs', '1')
        self.does(*train)
        vectors = (*train, '--word-vectors', self.folder / 'vectors')
        word = (self.folder / 'reviews/vocabulary.txt').read_text().split()[2]
        self.write('vectors', f'{word} 1 2 3 4\n'.encode())
        self.does(*vectors)
        for name, content in {'emptied': b'', 'text': b'hello', 'cut': f'{word} 1 2 3'.encode(),
                              'zeros': bytes(1000), 'too many': b'9' * 19 + b' 4\na 1 2 3 4\n',
                              'too wide': b'1 ' + b'9' * 19 + b'\n'}.items():
            with self.subTest(f'vectors, {name}'):
                self.write('vectors', content)
                self.hold(RECTRAIN, *vectors, vouches=True)
        for kind in KINDS:
            with self.subTest(f'vectors, {kind}'):
                self.special('vectors', kind)
                self.hold(RECTRAIN, *vectors, vouches=True)
        for name, content in {'emptied': b'', 'text': b'hello', 'cut': b'<pad>\n<unk>\n',
                              'zeros': bytes(1000)}.items():
            with self.subTest(name):
                self.write('reviews/vocabulary.txt', content)
                self.hold(RECTRAIN, *train, vouches=True)
        for kind in KINDS:
            with self.subTest(kind):
                self.special('reviews/vocabulary.txt', kind)
                self.hold(RECTRAIN, *train, vouches=True)


if __name__ == '__main__':
    unittest.main()

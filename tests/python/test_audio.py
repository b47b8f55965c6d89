"""Audio fields: samples of every format are those of the arithmetic stated, and of SciPy and TensorFlow where they are; parts,
padding, channels and rates; functions on threads and in processes."""
import functools
import io
import itertools
import pickle
import struct
import tarfile
import unittest
import wave

import numpy as np
import recpack_io
from keyed_draws import Draws
from png_files import png
from recpack_io import Audio, Function, Loader, Numbers
from recpack_io.errors import CorruptError, InvalidArgumentError, UnsupportedError
from support import InFolder, main

try:
    from scipy.io import wavfile
except ImportError:
    wavfile = None
try:
    import tensorflow as tf
except ImportError:
    tf = None

SEED = 7
AUDIO_STREAM = 7 << 16
RATE = 8000
# Tag, bits, type of the integers or floats, and what is 1.
ENCODINGS = {'u8': (1, 8, 'u1', 2**7), 's16': (1, 16, 'i2', 2**15), 's24': (1, 24, 'i4', 2**23), 's32': (1, 32, 'i4', 2**31),
             'f32': (3, 32, 'f4', None), 'f64': (3, 64, 'f8', None)}


def wav(values, encoding='s16', rate=RATE, extensible=False):
    """A WAV file of (frames, channels), as they are stored."""
    tag, bits, _, _ = ENCODINGS[encoding]
    channels = values.shape[1]
    frame = channels * bits // 8
    form = struct.pack('<HHIIHH', 0xFFFE if extensible else tag, channels, rate, rate * frame, frame, bits)
    if extensible:
        form += struct.pack('<HHIH', 22, bits, 0, tag) + bytes.fromhex('000000001000800000aa00389b71')
    data = values.astype(values.dtype.newbyteorder('<')).tobytes()
    if encoding == 's24':
        data = values.astype('<i4').reshape(-1).view('u1').reshape(-1, 4)[:, :3].tobytes()
    chunks = b'fmt ' + struct.pack('<I', len(form)) + form + b'LIST\3\0\0\0abc\0' + b'data' + struct.pack('<I', len(data)) + data
    return b'RIFF' + struct.pack('<I', 4 + len(chunks)) + b'WAVE' + chunks


def values_of(encoding, frames, channels):
    rng = np.random.default_rng(frames * 10 + channels)
    _, bits, kind, one = ENCODINGS[encoding]
    if one is None:
        return rng.normal(0, 0.5, (frames, channels)).astype(kind)
    low = 0 if encoding == 'u8' else -one
    values = rng.integers(low, low + 2 * one, (frames, channels), 'i8')
    values[0], values[-1] = low, low + 2 * one - 1
    return values.astype(kind)


def floats_of(values, encoding):
    """(channels, frames) of float32."""
    one = ENCODINGS[encoding][3]
    if one is None:
        return values.T.astype('f4')
    return ((values.astype('i8') - (128 if encoding == 'u8' else 0)).astype('f4') / np.float32(one)).T


def mean_of(samples):
    return functools.reduce(np.add, samples) / np.float32(len(samples))


def sounds(count):
    """16-bit sounds of several lengths, whose left channel counts the frames from 1; the right one is its negative."""
    for i in range(count):
        left = np.arange(1, 20 + 7 * (i % 6)).astype('i2')
        yield {'audio': wav(np.stack([left, -left], 1)), 'label': i}


def loudest(samples):
    return np.abs(samples).max(), len(samples)


class Loudest:
    """At the top of a module, for processes."""

    def __call__(self, samples):
        return np.array([np.abs(samples).max(), samples.shape[-1]], 'f4')


def about(sample):
    assert sample.image is None
    return {'copy': sample.audio, 'part': [sample.audio_begin, sample.audio_length, sample.audio_rate],
            'draw': sample.rng.random(dtype='f4')}


ABOUT = {'copy': ('float32', (2, 24)), 'part': ('int64', 3), 'draw': 'float32'}


class Sounds(InFolder):
    def data(self, records, name='data'):
        with recpack_io.Writer(self.folder / name) as writer:
            for record in records:
                writer.write(record)
        return recpack_io.open(self.folder / name)

    def one(self, file, name='one', **options):
        """The samples of one file, without its padding, and the loader's batch."""
        loader = Loader(self.data([{'audio': file}], name), fields=[Audio(**{'length': 40} | options)], batch_size=1)
        batch = next(iter(loader))
        return batch['audio'][0], batch


class Samples(Sounds):
    def test_every_format(self):
        cells = 0
        for encoding, channels, frames, extensible in itertools.product(ENCODINGS, (1, 2, 5), (2, 40, 61), (False, True)):
            with self.subTest(encoding=encoding, channels=channels, frames=frames, extensible=extensible):
                cells += 1
                values = values_of(encoding, frames, channels)
                file, expected = wav(values, encoding, extensible=extensible), floats_of(values, encoding)[:, :40]
                mean, batch = self.one(file, f'mean{cells}')
                kept = min(frames, 40)
                self.assertEqual(batch['audio_length'].tolist(), [kept])
                np.testing.assert_array_equal(mean[:kept], mean_of(expected))
                self.assertFalse(mean[kept:].any())
                if channels > 1:
                    each, _ = self.one(file, f'each{cells}', channels=channels)
                    np.testing.assert_array_equal(each[:, :kept], expected)
                    self.assertFalse(each[:, kept:].any())
        self.assertEqual(cells, 6 * 3 * 3 * 2)

    @unittest.skipUnless(wavfile, 'no SciPy here')
    def test_what_scipy_writes_and_reads(self):
        for encoding in 'u8', 's16', 's32', 'f32', 'f64':
            values, file = values_of(encoding, 40, 3), io.BytesIO()
            wavfile.write(file, 44100, values)
            got, _ = self.one(file.getvalue(), encoding, channels=3, rate=44100)
            np.testing.assert_array_equal(got, floats_of(values, encoding))
            np.testing.assert_array_equal(wavfile.read(io.BytesIO(wav(values, encoding)))[1], values)

    @unittest.skipUnless(tf, 'no TensorFlow here')
    def test_what_tensorflow_writes_and_reads(self):
        values = values_of('s16', 40, 2)
        whole = wav(values)
        plain = whole[:36] + whole[48:]  # it does not skip a chunk of odd size
        for name, file in ('ours', plain), ('theirs', tf.audio.encode_wav(floats_of(values, 's16').T, RATE).numpy()):
            decoded, rate = tf.audio.decode_wav(file)
            got, _ = self.one(file, name, channels=2, rate=int(rate))
            np.testing.assert_array_equal(got, decoded.numpy().T)

    def test_what_the_standard_library_writes(self):
        values, file = values_of('s16', 40, 2), io.BytesIO()
        with wave.open(file, 'wb') as sound:
            sound.setparams((2, 2, RATE, 0, 'NONE', ''))
            sound.writeframes(values.tobytes())
        np.testing.assert_array_equal(self.one(file.getvalue(), channels=2)[0], floats_of(values, 's16'))

    def test_streams(self):
        """Writers that cannot seek leave the sizes open."""
        values = values_of('s16', 30, 1)
        file = bytearray(wav(values))
        for number, size in enumerate((0, 2**32 - 1)):
            file[4:8] = file[-64:-60] = struct.pack('<I', size)
            got, batch = self.one(bytes(file), f'stream{number}')
            self.assertEqual(batch['audio_length'].tolist(), [30])
            np.testing.assert_array_equal(got[:30], floats_of(values, 's16')[0])


class Parts(Sounds):
    def test_each_crop(self):
        data = self.data(sounds(60))
        fields = [Audio('start', length=24), Audio('centre', length=24, crop='centre'), Audio(length=24, crop='random', channels=2),
                  Audio('same', length=24, crop='random', channels=2), Audio('other', length=24, crop='random', channels=2, view=1),
                  Numbers('label')]
        loader = Loader(data, fields=fields, batch_size=10, seed=SEED)
        self.assertEqual(loader.arrays['audio'], ('f32', (2, 24)))
        self.assertEqual(loader.arrays['start'], ('f32', (24,)))
        position, differ = 0, 0
        for epoch in range(2):
            for batch in loader:
                for i, label in enumerate(batch['label'].tolist()):
                    frames = 19 + 7 * (label % 6)
                    spare, position = max(0, frames - 24), position + 1
                    for name, view in ('audio', 0), ('same', 0), ('other', 1):
                        draws = Draws.of_sample(SEED, epoch, (position - 1) % 60, AUDIO_STREAM + view)
                        begin = draws.below(spare + 1) if spare else 0
                        left = np.zeros(24, 'f4')
                        left[:min(24, frames)] = np.arange(begin + 1, begin + 1 + min(24, frames)) / np.float32(2**15)
                        np.testing.assert_array_equal(batch[name][i], [left, -left])
                        self.assertEqual(batch[f'{name}_length'][i], min(24, frames))
                    self.assertFalse(batch['start'][i].any() or batch['centre'][i].any())  # the mean
                    differ += not np.array_equal(batch['audio'][i], batch['other'][i])
        self.assertGreater(differ, 60)

    def test_the_same_by_any_number_of_threads_and_after_resuming(self):
        data = self.data(sounds(61))
        fields = [Audio(length=24, crop='random'), Numbers('label')]
        new = functools.partial(Loader, data, fields=fields, batch_size=4, seed=SEED)
        one = new(threads=1)
        whole, state = [], None
        for number, batch in enumerate(one):
            whole.append((batch['audio'].copy(), batch['label'].tolist()))
            state = one.state_dict() if number == 5 else state
        resumed = new(threads=2)
        resumed.load_state_dict(state)
        for batches, expected in (new(threads=3), whole), (resumed, whole[6:]):
            batches = [(batch['audio'].copy(), batch['label'].tolist()) for batch in batches]
            self.assertEqual(len(batches), len(expected))
            for (samples, labels), (wanted, numbers) in zip(batches, expected):
                np.testing.assert_array_equal(samples, wanted)
                self.assertEqual(labels, numbers)


class Folders(Sounds):
    def setUp(self):
        super().setUp()
        for number, name in enumerate(('cat', 'dog')):
            path = self.folder / 'sounds' / name / 'voice.wav'
            path.parent.mkdir(parents=True)
            path.write_bytes(wav(np.full((9, 2), 100 * (number + 1), 'i2')))

    def test_as_they_are_and_packed(self):
        result = recpack_io.pack(self.folder / 'sounds', self.folder / 'packed', shuffle=None)
        self.assertEqual(result.records, 2)
        for path in 'sounds', 'packed':
            data = recpack_io.open(self.folder / path)
            self.assertEqual(list(data.class_names), ['cat', 'dog'])
            self.assertEqual([int(data[0][f'audio/{name}'][0]) for name in ('rate', 'channels', 'frames')], [RATE, 2, 9])
            self.assertEqual(bytes(data[1]['audio/filename']), b'dog/voice.wav')
            self.assertEqual(bytes(data[1]['label/text']), b'dog')
            for feature in '', 'audio', 'audio/encoded':
                loader = Loader(data, fields=[Audio(length=9, feature=feature), Numbers('label'),
                                              recpack_io.Function(lambda sample: {'rate': sample['audio/rate'][0]},
                                                                  {'rate': 'int64'})], batch_size=2, order='sequential')
                batch = next(iter(loader))
                np.testing.assert_array_equal(batch['audio'], np.repeat([[100], [200]], 9, 1) / np.float32(2**15))
                self.assertEqual(batch['label'].tolist(), [0, 1])
            self.assertEqual(len(data.filter(label=1)), 1)

    def test_beside_images(self):
        (self.folder / 'sounds/dog/picture.png').write_bytes(png(np.zeros((4, 4, 3), 'u1')))
        recpack_io.pack(self.folder / 'sounds', self.folder / 'mixed', shuffle=None)
        data = recpack_io.open(self.folder / 'mixed')
        self.assertEqual([next(name for name in ('audio/encoded', 'image/encoded') if name in record) for record in data],
                         ['audio/encoded', 'image/encoded', 'audio/encoded'])
        batch = next(iter(Loader(data, fields=[Numbers('label')], batch_size=3, order='sequential')))
        self.assertEqual(batch['label'].tolist(), [0, 1, 1])

    def test_tars(self):
        with tarfile.open(self.folder / 'voices.tar', 'w') as tar:
            tar.add(self.folder / 'sounds/dog/voice.wav', 'a.wav')
        batch = next(iter(Loader(recpack_io.open(self.folder / 'voices.tar'), fields=[Audio(length=9)], batch_size=1)))
        self.assertEqual(batch['audio_length'].tolist(), [9])


class Functions(Sounds):
    def test_then(self):
        data = self.data(sounds(30))
        fields = [Audio(length=24, crop='random', channels=2),
                  Audio('loud', length=24, crop='random', channels=2, then=Loudest(), result=('float32', 2))]
        for workers in 0, 2:
            with Loader(data, fields=fields, batch_size=7, seed=SEED, workers=workers) as loader:
                for batch in loader:
                    np.testing.assert_array_equal(batch['loud'][:, 0], abs(batch['audio']).max((1, 2)))
                    self.assertTrue((batch['loud'][:, 1] == 24).all())
                    self.assertNotIn('loud_length', batch)

    def test_audio_of_a_function(self):
        data = self.data(sounds(30))
        audio = Audio(length=24, crop='random', channels=2)
        seen = {}
        for workers in 0, 2:
            with Loader(data, fields=[audio, Function(about, ABOUT, audio=audio)], batch_size=7, seed=SEED,
                        workers=workers) as loader:
                seen[workers] = [{name: batch[name].copy() for name in batch} for batch in loader]
            for batch in seen[workers]:
                np.testing.assert_array_equal(batch['copy'], batch['audio'])
                np.testing.assert_array_equal(batch['part'][:, 1], batch['audio_length'])
                self.assertTrue((batch['part'][:, 2] == RATE).all())
                np.testing.assert_array_equal(batch['part'][:, 0] + 1, batch['copy'][:, 0, 0] * 2**15)
        for here, there in zip(*seen.values()):
            for name in here:
                np.testing.assert_array_equal(here[name], there[name])

    def test_mono_beside_an_image(self):
        pixels = np.arange(12, dtype='u1').reshape(2, 2, 3)
        data = self.data([record | {'image': pixels} for record in sounds(6)])
        function = Function(lambda sample: {'shapes': [*sample.audio.shape, *sample.image.shape]}, {'shapes': ('int64', 4)},
                            image=recpack_io.Image(height=2, width=2), audio=Audio(length=9))
        for workers in 0, 1:
            with Loader(data, fields=[function], batch_size=6, workers=workers, multiprocessing_context='fork') as loader:
                self.assertEqual(next(iter(loader))['shapes'].tolist(), [[9, 2, 2, 3]] * 6)

    def test_pickled(self):
        field = Audio('a', length=9, feature='wav', crop='random', channels=2, rate=RATE, view=3)
        again = pickle.loads(pickle.dumps(field))
        for name in 'name', 'length', 'feature', 'crop', 'channels', 'rate', 'view':
            self.assertEqual(getattr(again, name), getattr(field, name))


class Faults(Sounds):
    def test_of_files(self):
        good = wav(values_of('s16', 30, 2))
        for number, (kind, words, file, options) in enumerate((
                (InvalidArgumentError, '8000 frames per second.*takes 16000; resample', good, {'rate': 16000}),
                (InvalidArgumentError, '2 channels.*takes 3', good, {'channels': 3}),
                (CorruptError, 'it is cut: 3 bytes', good[:-3], {}), (CorruptError, 'cut after 0 bytes', b'', {}),
                (UnsupportedError, 'is FLAC.*16-bit PCM', b'fLaC' + bytes(50), {}),
                (UnsupportedError, 'is MP3', b'ID3\4' + bytes(50), {}), (UnsupportedError, 'is Ogg', b'OggS' + bytes(50), {}),
                (UnsupportedError, 'A-law', good[:20] + b'\6' + good[21:], {}),
                (UnsupportedError, 'RF64', b'RF64' + good[4:], {}), (UnsupportedError, 'does not begin', bytes(50), {}),
                (InvalidArgumentError, "no feature 'speech'", good, {'feature': 'speech'}))):
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                self.one(file, f'file{number}', **options)

    def test_of_arguments(self):
        data = self.data(sounds(4))
        for words, options in (('has no length', {'length': 0}), ('0 channels', {'channels': 0}), ('view 65520', {'view': 65520})):
            with self.assertRaisesRegex(InvalidArgumentError, words):
                Loader(data, fields=[Audio(**{'length': 9} | options)], batch_size=1)
        for words, call in (('length', lambda: Audio('audio')), ("length cannot be '9': give an integer", lambda: Audio(length='9')),
                            ('length cannot be -1', lambda: Audio(length=-1)), ('needs `result`', lambda: Audio(length=9, then=loudest)),
                            ('are for `then`', lambda: Audio(length=9, result=('float32', 2))),
                            ("did you mean 'channels'", lambda: Audio(length=9, chanels=2)),
                            ('is not an Audio field', lambda: Function(about, ABOUT, audio=recpack_io.Image()))):
            with self.assertRaisesRegex(TypeError, words):
                call()


if __name__ == '__main__':
    main()

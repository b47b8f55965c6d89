"""The files that the programs of examples/python/programs and of peer_programs read, and a case that runs them."""
import os
import shutil
import subprocess
import tarfile
import wave

import numpy as np
from png_files import png
from support import GOLDEN, InFolder

PICTURES = [GOLDEN / 'image' / name for name in ('real_420.jpg', 'rgb.png', 'gray.png', 'exif6.png')]


def make_files(folder):
    """photo.jpg, list.csv that names it, class folders in photos/ and sounds/, and the shards of a WebDataset in tars/."""
    shutil.copy(PICTURES[0], folder / 'photo.jpg')
    (folder / 'list.csv').write_text('path,tags,age\nphoto.jpg,cat|outdoors,3\nphoto.jpg,dog,5\n')
    for split, count in ('train', 8), ('val', 4):
        for i in range(count):
            path = folder / 'photos' / split / ('ant', 'bee')[i % 2] / f'{i}{PICTURES[i % 4].suffix}'
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PICTURES[i % 4], path)
    (folder / 'tars').mkdir()
    for part in range(2):
        with tarfile.open(folder / f'tars/part-00{part}.tar', 'w') as tar:
            for i in range(2):
                label = folder / 'label'
                label.write_text(str(i))
                tar.add(PICTURES[i], f'{part}{i}{PICTURES[i].suffix}')
                tar.add(label, f'{part}{i}.cls')
    make_masks(folder)
    make_sounds(folder)


def make_masks(folder):
    """Pictures that are bright where their mask is not 0."""
    (folder / 'masks').mkdir()
    rng = np.random.default_rng(1)
    for i in range(8):
        mask = np.kron(rng.integers(3, size=(4, 4), dtype='u1'), np.ones((16, 16), 'u1'))
        (folder / f'masks/{i}_mask.png').write_bytes(png(mask))
        (folder / f'masks/{i}.png').write_bytes(png(np.repeat(255 * (mask > 0)[..., None], 3, 2).astype('u1')))


def make_sounds(folder):
    """sounds/HERTZ/tone.wav: a second of each tone."""
    for hertz in range(500, 3500, 250):
        path = folder / 'sounds' / str(hertz) / 'tone.wav'
        path.parent.mkdir(parents=True)
        with wave.open(str(path), 'wb') as file:
            file.setparams((1, 2, 8000, 0, 'NONE', ''))
            file.writeframes((9000 * np.sin(np.arange(8000) * 2 * np.pi * hertz / 8000)).astype('<i2').tobytes())


class ProgramCase(InFolder):
    """Runs programs in the test's folder."""

    def output_of(self, command, **variables):
        """What a command prints; it has to succeed."""
        environment = os.environ | {'OMP_NUM_THREADS': '1', 'JAX_PLATFORMS': 'cpu', 'CUDA_VISIBLE_DEVICES': '',
                                    'TF_CPP_MIN_LOG_LEVEL': '3', 'HF_HOME': str(self.folder / 'hf'), 'HF_HUB_OFFLINE': '1'}
        done = subprocess.run(list(map(str, command)), cwd=self.folder, env=environment | variables, capture_output=True,
                              text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout

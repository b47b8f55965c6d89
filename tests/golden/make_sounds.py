"""Makes tests/golden/audio: WAV files as scipy.io.wavfile and Python's wave write them.

    python tests/golden/make_sounds.py      in an environment that has SciPy

Sample i of 16 is (i - 8) / 16 in the first channel, and the negative of it in the second.
"""
import pathlib
import wave

import numpy as np
from scipy.io import wavfile

FOLDER = pathlib.Path(__file__).parent / 'audio'
RATE = 16000


def main():
    FOLDER.mkdir(exist_ok=True)
    ramp = (np.arange(16) - 8) / 16
    both = np.stack([ramp, -ramp], 1)
    scales = {'u8': (np.uint8, 2**7, 2**7), 's16': (np.int16, 2**15, 0), 's32': (np.int32, 2**31, 0),
              'f32': (np.float32, 1, 0), 'f64': (np.float64, 1, 0)}
    for name, (kind, scale, offset) in scales.items():
        wavfile.write(FOLDER / f'{name}.wav', RATE, (both * scale + offset).astype(kind))
    with wave.open(str(FOLDER / 's24.wav'), 'wb') as file:
        file.setparams((2, 3, RATE, 0, 'NONE', ''))
        file.writeframes(b''.join(int(value * 2**23).to_bytes(3, 'little', signed=True) for value in both.ravel()))


if __name__ == '__main__':
    main()

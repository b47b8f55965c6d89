"""A training in JAX whose mel spectrograms a multiprocessing.Pool makes by numpy's FFT with a very fine hop.

environment: jax; cause: user function
"""
import os
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
import itertools
import multiprocessing
import tempfile

import numpy as np

RATE, SECONDS = 22_050, 5
WINDOW, HOP, MELS, FRAMES = 2048, 160, 48, 40
CLIPS, BATCH, STEPS = 40, 8, 140


def mel_filters():
    def to_mel(hertz):
        return 2595 * np.log10(1 + hertz / 700)

    points = 700 * (10 ** (np.linspace(to_mel(20), to_mel(RATE / 2), MELS + 2) / 2595) - 1)
    hertz = np.fft.rfftfreq(WINDOW, 1 / RATE)
    rise = (hertz - points[:-2, None]) / (points[1:-1] - points[:-2])[:, None]
    fall = (points[2:, None] - hertz) / (points[2:] - points[1:-1])[:, None]
    return np.maximum(0, np.minimum(rise, fall)).astype(np.float32)


def start_worker(path):
    global clips, filters, window
    clips = np.load(path, mmap_mode='r')
    filters, window = mel_filters(), np.hanning(WINDOW).astype(np.float32)


def mel_spectrogram(index):
    wave = clips[index % CLIPS].astype(np.float32) / 32768
    frames = np.lib.stride_tricks.sliding_window_view(wave, WINDOW)[::HOP]
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2  # planted
    mels = np.log(power.astype(np.float32) @ filters.T + 1e-6)  # planted
    usable = len(mels) // FRAMES * FRAMES
    return mels[:usable].reshape(FRAMES, -1, MELS).mean(1), index % 10


def batched(samples, size):
    samples = iter(samples)
    while chunk := list(itertools.islice(samples, size)):
        x, y = zip(*chunk)
        yield np.stack(x).reshape(len(x), -1), np.array(y)


def train(batches):
    import jax  # here, as the pool's processes have no need of it
    import jax.numpy as jnp

    def forward(params, x):
        x = jnp.tanh(x @ params['w1'] + params['b1'])
        x = jnp.tanh(x @ params['w2'] + params['b2'])
        return x @ params['w3']

    def loss_fn(params, x, y):
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(forward(params, x)) * jax.nn.one_hot(y, 10), -1))

    @jax.jit
    def update(params, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss

    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    params = {'w1': jax.random.normal(keys[0], (FRAMES * MELS, 512)) * 0.02, 'b1': jnp.zeros(512),
              'w2': jax.random.normal(keys[1], (512, 256)) * 0.04, 'b2': jnp.zeros(256),
              'w3': jax.random.normal(keys[2], (256, 10)) * 0.06}
    losses = []
    for x, y in batches:
        params, loss = update(params, x, y)
        losses.append(float(loss))
    print('first', losses[0], 'last', losses[-1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'clips.npy')
        np.save(path, np.random.default_rng(0).integers(-8000, 8000, (CLIPS, RATE * SECONDS), dtype=np.int16))
        order = np.random.default_rng(1).integers(0, 10_000, BATCH * STEPS).tolist()
        with multiprocessing.get_context('spawn').Pool(2, start_worker, (path,)) as pool:
            train(batched(pool.imap(mel_spectrogram, order, chunksize=4), BATCH))  # planted


if __name__ == '__main__':
    main()

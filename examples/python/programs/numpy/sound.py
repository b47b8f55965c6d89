"""Packs sound files, and makes spectrograms of random parts of them."""
import io
import wave

import numpy as np
import recpack_io


def tone(hertz):
    with io.BytesIO() as file:
        with wave.open(file, "wb") as sound:
            sound.setparams((1, 2, 8000, 0, "NONE", ""))
            sound.writeframes((9000 * np.sin(np.arange(8000) * 2 * np.pi * hertz / 8000)).astype("<i2").tobytes())
        return file.getvalue()


recpack_io.pack(({"wav": tone(hertz), "label": hertz} for hertz in range(500, 3500, 250)), "sounds")


def spectrum(sample):
    with wave.open(io.BytesIO(sample["wav"].tobytes())) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype("f4")
    begin = sample.rng.integers(len(samples) - 4096)
    parts = samples[begin:begin + 4096].reshape(16, 256) * np.hanning(256).astype("f4")
    return {"spectrum": np.log1p(np.abs(np.fft.rfft(parts)[:, :128])).astype("f4")}


fields = [recpack_io.Function(spectrum, {"spectrum": ("float32", (16, 128))}), recpack_io.Numbers("label")]
for batch in recpack_io.Loader("sounds", fields=fields, batch_size=4):
    print(batch["label"].tolist(), (batch["spectrum"].mean(1).argmax(1) * 8000 // 256).tolist())

"""Packs sound files, and makes spectrograms of random parts of them."""
import numpy as np
import recpack_io


def spectrum(sound):
    return np.log1p(abs(np.fft.rfft(sound.reshape(16, 256) * np.hanning(256))[:, :128]))


recpack_io.pack("sounds", "packed")
sounds = recpack_io.open("packed")
spectra = recpack_io.Audio("spectrum", length=4096, crop="random", then=spectrum, result=("float32", (16, 128)))
for batch in recpack_io.Loader(sounds, fields=[spectra, recpack_io.Numbers("label")], batch_size=4):
    print([sounds.class_names[i] for i in batch["label"]], (batch["spectrum"].mean(1).argmax(1) * 8000 // 256).tolist())

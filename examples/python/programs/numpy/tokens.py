"""Reads lists of tokens of any length: padded, truncated, with their lengths."""
import recpack_io

words = {word: number for number, word in enumerate("the cat sat on a mat and slept".split(), 1)}
lines = ["the cat sat", "the cat sat on a mat", "a cat slept", "the cat sat on a mat and slept"] * 2
recpack_io.pack(({"tokens": [words[word] for word in line.split()]} for line in lines), "texts")
fields = [recpack_io.Numbers("tokens", type="i32", length=6, ragged=True, truncate=True)]
for batch in recpack_io.Loader("texts", fields=fields, batch_size=4, order="sequential"):
    print(batch["tokens"].shape, batch["tokens_length"].tolist(), batch["tokens"][0].tolist())

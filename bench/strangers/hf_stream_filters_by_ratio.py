"""Two interleaved streams of text with datasets and accelerate; a filter drops texts that repeat themselves too much.

environment: huggingface; cause: user function
"""
import argparse
import json
import lzma
import os
import tempfile

import numpy as np
import torch
from accelerate import Accelerator
from datasets import interleave_datasets, load_dataset
from torch import nn
from torch.utils.data import DataLoader


class Quality:
    """Rules of thumb for web text, after those of known corpora."""

    def __init__(self, lowest=0.1, min_words=20):
        self.lowest, self.min_words = lowest, min_words

    def ratio(self, text):
        raw = text.encode('utf-8')
        return len(lzma.compress(raw)) / len(raw)  # planted

    def keep(self, text):
        return text.count(' ') >= self.min_words and self.ratio(text) > self.lowest


def byte_ids(row, length):
    return {'input_ids': list(row['text'][:length].encode('utf-8'))}


class ByteModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(256, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, 256)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


def write_texts(path, seed, count=50):
    rng = np.random.default_rng(seed)
    words = [''.join(map(chr, rng.integers(97, 123, rng.integers(2, 9)))) for _ in range(400)]
    with open(path, 'w', encoding='utf-8') as file:
        for _ in range(count):
            text = ' '.join(words[i] for i in rng.integers(0, 400, 4000))
            file.write(json.dumps({'text': text}) + '\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--block_size', type=int, default=64)
    parser.add_argument('--num_train_epochs', type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True)
    with tempfile.TemporaryDirectory() as folder:
        streams = []
        for seed, name in enumerate(('web', 'books')):
            path = os.path.join(folder, name + '.jsonl')
            write_texts(path, seed)
            streams.append(load_dataset('json', data_files=path, split='train', streaming=True))
        quality = Quality()
        dataset = interleave_datasets(streams, probabilities=[0.5, 0.5], seed=1)
        dataset = dataset.filter(lambda row: quality.keep(row['text']))
        dataset = dataset.map(byte_ids, fn_kwargs={'length': args.block_size}, remove_columns=['text'])
        loader = DataLoader(dataset.with_format('torch'), batch_size=args.batch_size)
        model = ByteModel()
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for epoch in range(args.num_train_epochs):
            dataset.set_epoch(epoch)
            for batch in loader:
                ids = batch['input_ids']
                logits = model(ids[:, :-1])
                loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            accelerator.print(f'epoch {epoch}: loss {loss.item():.3f}')


if __name__ == '__main__':
    main()

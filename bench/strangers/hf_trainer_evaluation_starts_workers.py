"""The Trainer evaluates on a few batches every few steps, and each evaluation starts its workers anew.

environment: huggingface; cause: worker restarts
"""
import argparse
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Ratings(Dataset):
    """Users' last items and the next one, kept in memory."""

    def __init__(self, path, length=20):
        self.rows = np.load(path)
        self.length = length

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        return {'items': torch.from_numpy(row[:self.length]), 'labels': int(row[self.length])}


class NextItem(nn.Module):
    def __init__(self, items, width=48):
        super().__init__()
        self.embed = nn.Embedding(items, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, items)

    def forward(self, items, labels=None):
        _, state = self.rnn(self.embed(items))
        logits = self.head(state[-1])
        return {'loss': nn.functional.cross_entropy(logits, labels), 'logits': logits}


def hit_rate(prediction):
    top = np.argpartition(-prediction.predictions, 10, axis=1)[:, :10]
    return {'hit@10': float((top == prediction.label_ids[:, None]).any(1).mean())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=32)
    parser.add_argument('--max_steps', type=int, default=160)
    parser.add_argument('--eval_steps', type=int, default=4)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        for name, count in (('train', 20_000), ('valid', 64)):
            np.save(os.path.join(folder, name + '.npy'), rng.integers(0, 800, (count, 21)))
        training_args = TrainingArguments(
            output_dir=os.path.join(folder, 'out'),
            max_steps=args.max_steps,
            per_device_train_batch_size=args.batch_size,
            per_device_eval_batch_size=args.batch_size,
            learning_rate=1e-3,
            eval_strategy='steps',
            eval_steps=args.eval_steps,
            dataloader_num_workers=2,  # planted
            logging_steps=40,
            save_strategy='no',
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        trainer = Trainer(
            model=NextItem(800),
            args=training_args,
            train_dataset=Ratings(os.path.join(folder, 'train.npy')),
            eval_dataset=Ratings(os.path.join(folder, 'valid.npy')),
            compute_metrics=hit_rate,
        )
        trainer.train()
        print(trainer.evaluate())


if __name__ == '__main__':
    main()

"""A small GPT-2 with the Trainer, whose loss adds a penalty on tokens that would repeat an n-gram of the row.

environment: huggingface; cause: host
"""
import argparse
import os
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class TokenBlocks(Dataset):
    """Blocks of a flat file of token ids."""

    def __init__(self, path, block_size):
        self.tokens = np.memmap(path, np.uint16, 'r')
        self.block_size = block_size

    def __len__(self):
        return len(self.tokens) // self.block_size

    def __getitem__(self, index):
        block = self.tokens[index * self.block_size:(index + 1) * self.block_size].astype(np.int64)
        return {'input_ids': torch.from_numpy(block), 'labels': torch.from_numpy(block)}


class RepeatCandidates:
    """For each position the tokens that would complete an n-gram which the row already has."""

    def __init__(self, sizes=(3, 4)):
        self.sizes = sizes

    def for_row(self, row, ngram):
        found = []
        for end in range(ngram, len(row)):
            prefix = row[end - ngram + 1:end]
            for start in range(end - ngram + 1):
                if row[start:start + ngram - 1] == prefix:  # planted
                    found.append((end - 1, row[start + ngram - 1]))
        return found

    def __call__(self, input_ids, vocab_size):
        mask = torch.zeros(*input_ids.shape, vocab_size)
        for number, row in enumerate(input_ids.tolist()):
            found = [pair for ngram in self.sizes for pair in self.for_row(row, ngram)]
            if found:
                positions, tokens = zip(*found)
                mask[number, list(positions), list(tokens)] = 1
        return mask


class UnlikelihoodTrainer(Trainer):
    def __init__(self, *args, alpha=0.5, **kwargs):
        super().__init__(*args, **kwargs)
        self.alpha = alpha
        self.candidates = RepeatCandidates()

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        mask = self.candidates(inputs['input_ids'], outputs.logits.size(-1))
        unlikely = -torch.log1p(-outputs.logits.softmax(-1).clamp(max=0.999))
        loss = outputs.loss + self.alpha * (unlikely * mask).sum() / mask.sum().clamp(min=1)
        return (loss, outputs) if return_outputs else loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--per_device_train_batch_size', type=int, default=4)
    parser.add_argument('--max_steps', type=int, default=50)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'train.bin')
        np.random.default_rng(0).zipf(1.3, 400_000).clip(max=127).astype(np.uint16).tofile(path)
        config = GPT2Config(vocab_size=128, n_positions=384, n_embd=32, n_layer=1, n_head=2, bos_token_id=0,
                            eos_token_id=0)
        trainer = UnlikelihoodTrainer(
            model=GPT2LMHeadModel(config),
            args=TrainingArguments(output_dir=folder, max_steps=args.max_steps, use_cpu=True, report_to=[],
                                   per_device_train_batch_size=args.per_device_train_batch_size,
                                   learning_rate=1e-3, logging_steps=20, save_strategy='no', disable_tqdm=True),
            train_dataset=TokenBlocks(path, block_size=384))
        trainer.train()


if __name__ == '__main__':
    main()

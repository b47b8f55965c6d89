"""A loop of Accelerate about a small GPT-2 that scores its own guesses by an edit distance in plain Python after each step.

environment: huggingface; cause: host
"""
import random

from accelerate import Accelerator
from accelerate.utils import set_seed
import torch
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel

ALPHABET = ' abcdefghijklmnopqrstuvwxyz.,;!?-0123456789'


def levenshtein(a, b):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):  # planted
            cost = previous[j - 1] + (x != y)  # planted
            current.append(min(previous[j] + 1, current[j - 1] + 1, cost))  # planted
        previous = current
    return previous[-1]


class CharacterErrorRate:
    def __init__(self):
        self.errors = self.characters = 0

    def update(self, predictions, references):
        for prediction, reference in zip(predictions, references):
            self.errors += levenshtein(prediction, reference)  # planted
            self.characters += len(reference)

    def compute(self):
        return self.errors / max(self.characters, 1)


def text_of(ids):
    return ''.join(ALPHABET[i] for i in ids)


def main():
    set_seed(42)
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True)
    rng = random.Random(0)
    words = [''.join(rng.choices(ALPHABET[1:27], k=rng.randint(2, 8))) for _ in range(300)]
    corpus = ' '.join(rng.choices(words, k=20_000))
    encoded = torch.tensor([ALPHABET.index(c) for c in corpus])
    length, batch_size = 128, 16
    chunks = encoded[:len(encoded) // length * length].view(-1, length)[:batch_size * 52]
    loader = DataLoader(chunks, batch_size=batch_size, shuffle=True, drop_last=True)

    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(ALPHABET), n_positions=length, n_embd=32, n_layer=1, n_head=2,
                                       bos_token_id=0, eos_token_id=0))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    for epoch in range(3):
        metric = CharacterErrorRate()
        model.train()
        for ids in loader:
            output = model(input_ids=ids, labels=ids)
            accelerator.backward(output.loss)
            optimizer.step()
            optimizer.zero_grad()
            guesses = accelerator.gather_for_metrics(output.logits[:, :-1].argmax(-1))
            metric.update([text_of(row) for row in guesses.tolist()],  # planted
                          [text_of(row) for row in ids[:, 1:].tolist()])
        accelerator.print(f'epoch {epoch}: loss {output.loss.item():.3f}, CER {metric.compute():.3f}')


if __name__ == '__main__':
    main()

"""An IterableDataset of datasets whose map, made on the fly, compares all pairs of a document's sentences to drop near duplicates.

environment: huggingface; cause: user function
"""
import random
import re
import zlib

from datasets import Dataset
import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification, default_data_collator, get_scheduler

MAX_LENGTH = 64
VOCABULARY = 4000
BATCH = 8
STEPS = 180


def write_documents(count, sentences):
    rng = random.Random(11)
    words = [''.join(rng.choices('abcdefghijklmnoprstuvz', k=rng.randint(3, 9))) for _ in range(3000)]
    return ['. '.join(' '.join(rng.choices(words, k=12)) for _ in range(sentences)) for _ in range(count)]


def overlap(a, b):
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def drop_near_duplicates(example):
    kept, kept_words = [], []
    for sentence in re.split(r'[.!?]\s+', example['text']):
        words = set(re.findall(r'\w+', sentence.lower()))
        if all(overlap(words, other) < 0.7 for other in kept_words):  # planted
            kept.append(sentence)
            kept_words.append(words)
    return {'text': '. '.join(kept)}


def encode(example):
    ids = [zlib.crc32(word.encode()) % (VOCABULARY - 1) + 1 for word in example['text'].split()[:MAX_LENGTH]]
    padding = MAX_LENGTH - len(ids)
    return {'input_ids': ids + [0] * padding, 'attention_mask': [1] * len(ids) + [0] * padding}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    documents = write_documents(180, 220)
    rows = Dataset.from_dict({'text': documents * (BATCH * STEPS // len(documents)),
                              'label': [i % 2 for i in range(BATCH * STEPS)]})
    stream = rows.to_iterable_dataset(num_shards=4)
    stream = stream.map(drop_near_duplicates)  # planted
    stream = stream.map(encode, remove_columns=['text'])
    loader = DataLoader(stream, batch_size=BATCH, num_workers=2, collate_fn=default_data_collator)

    config = BertConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=MAX_LENGTH, num_labels=2)
    model = BertForSequenceClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    scheduler = get_scheduler('linear', optimizer, num_warmup_steps=10, num_training_steps=STEPS)
    model.train()
    for step, batch in enumerate(loader):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        if step % 60 == 0:
            print(f'step {step}, loss {loss.item():.3f}')


if __name__ == '__main__':
    main()

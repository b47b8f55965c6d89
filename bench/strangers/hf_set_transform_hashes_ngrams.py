"""A datasets.Dataset with set_transform that hashes the n-grams of long documents each time a row is read.

environment: huggingface; cause: user function
"""
import random
import re
import tempfile
import zlib
from dataclasses import dataclass, field

from datasets import Dataset
from transformers import (BertConfig, BertForSequenceClassification, HfArgumentParser, Trainer, TrainingArguments,
                          set_seed)


@dataclass
class DataArguments:
    words_per_document: int = field(default=8000)
    documents: int = field(default=40)
    max_seq_length: int = field(default=32)
    train_batch_size: int = field(default=8)
    steps: int = field(default=120)


def documents(arguments):
    words = [f'{a}{b}{c}' for a in 'bdgklmnprst' for b in 'aeiou' for c in ('n', 'r', 's', 't', "n't")]
    return [' '.join(random.choices(words, k=arguments.words_per_document)) for _ in range(arguments.documents)]


def main():
    data_args, = HfArgumentParser(DataArguments).parse_args_into_dataclasses()
    set_seed(3)
    texts = documents(data_args)
    rows = data_args.steps * data_args.train_batch_size
    train_dataset = Dataset.from_dict({'text': [texts[i % len(texts)] for i in range(rows)],
                                       'label': [i % 2 for i in range(rows)]})

    def preprocess(examples):
        input_ids = []
        for text in examples['text']:
            words = re.findall(r"\w+(?:'\w+)?", text.lower())  # planted
            counts = [0] * 1000
            for pair in zip(words, words[1:]):
                counts[zlib.crc32(' '.join(pair).encode()) % 1000] += 1  # planted
            for triple in zip(words, words[1:], words[2:]):
                counts[zlib.crc32(' '.join(triple).encode()) % 1000] += 1  # planted
            common = sorted(range(1000), key=counts.__getitem__, reverse=True)
            input_ids.append(common[:data_args.max_seq_length])
        return {'input_ids': input_ids, 'labels': examples['label']}

    train_dataset.set_transform(preprocess)

    config = BertConfig(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=128, num_labels=2)
    with tempfile.TemporaryDirectory() as output:
        training_args = TrainingArguments(output_dir=output, per_device_train_batch_size=data_args.train_batch_size,
                                          max_steps=data_args.steps, dataloader_num_workers=2,
                                          remove_unused_columns=False, report_to=[], save_strategy='no',
                                          logging_steps=40, disable_tqdm=True, use_cpu=True)
        trainer = Trainer(model=BertForSequenceClassification(config), args=training_args,
                          train_dataset=train_dataset)
        trainer.train()


if __name__ == '__main__':
    main()

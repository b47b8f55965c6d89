"""A Trainer of transformers whose data collator builds masks in Python.

environment: huggingface; cause: batch function, training thread
"""
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Sentences(Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, index):
        return {'input_ids': [index % 1000] * 24, 'labels': index % 2}


def collate(features):
    width = 24
    table = {(i, j): (i * j) % 3 for i in range(400) for j in range(400)}  # planted
    ids = [feature['input_ids'][:width] for feature in features]
    return {'input_ids': torch.tensor(ids) + table[0, 0],
            'attention_mask': torch.ones(len(ids), width, dtype=torch.long),
            'labels': torch.tensor([feature['labels'] for feature in features])}


def main():
    config = BertConfig(vocab_size=1000, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=32, num_labels=2)
    arguments = TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=8,
                                  max_steps=100, report_to=[], save_strategy='no', use_cpu=True)
    Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=Sentences(),
            data_collator=collate).train()


if __name__ == '__main__':
    main()

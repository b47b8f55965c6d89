"""A Trainer of transformers with a callback that logs to a slow server after each step.

environment: huggingface; cause: host
"""
import tempfile
import time

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments


class Sentences(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        return {'input_ids': torch.full((24,), index % 1000), 'labels': index % 2}


class Logger(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        time.sleep(0.1)  # planted


def main():
    config = BertConfig(vocab_size=1000, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=32, num_labels=2)
    arguments = TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=8,
                                  max_steps=80, report_to=[], save_strategy='no', use_cpu=True)
    Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=Sentences(),
            callbacks=[Logger()]).train()


if __name__ == '__main__':
    main()

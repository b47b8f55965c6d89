"""Loaders for Hugging Face's Trainer and Accelerate.

    from recpack_io.huggingface import Trainer
    trainer = Trainer(model, args, train_dataset=Loader(shards, "imagenet-train", batch_size=64))
    trainer.train(resume_from_checkpoint=True)

Both take Loaders of recpack_io.torch. Checkpoints hold the loader's state, so that a run continues
with the next batch and skips none by making it.
"""
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import transformers
import transformers.trainer
from accelerate import Accelerator
from transformers.trainer_utils import get_last_checkpoint

from recpack_io.errors import InvalidArgumentError
from recpack_io.adapting.huggingface_loader import PreparedLoader
from recpack_io.torch import Loader

__all__ = ['PreparedLoader', 'Trainer', 'prepare']

_STATE_FILE = 'recpack_loader.json'


def prepare(accelerator: Accelerator, *loaders: Loader,
            columns: Mapping[str, str] | None = None) -> Any:
    """Prepares loaders for a program that uses Accelerate, as accelerator.prepare() does others.

    Batches are copied to the accelerator's device. Accumulation of gradients ends with an epoch,
    and gather_for_metrics() drops padding, with Loader(share="batches", last_batch="pad") on
    several ranks. accelerator.save_state() and load_state() include the loader's state: the first
    iteration after loading is the rest of the epoch, so skip_first_batches() is not needed.

    Args:
        accelerator: The Accelerator.
        loaders: Loaders of recpack_io.torch.
        columns: As in PreparedLoader.

    Returns:
        A PreparedLoader for each loader; for one loader not in a tuple.
    """
    device = accelerator.device if accelerator.device_placement else None
    prepared = [PreparedLoader(loader, columns, device) for loader in loaders]
    accelerator.register_for_checkpointing(*prepared)
    return prepared[0] if len(prepared) == 1 else tuple(prepared)


_skip_of_others = transformers.trainer.skip_first_batches


def _skip_first_batches(dataloader, num_batches: int = 0):
    """As Accelerate's function, which would take the records of our data set for samples."""
    if isinstance(dataloader, _TrainLoader):
        return dataloader.skip_first(0 if dataloader.continues else num_batches)
    return _skip_of_others(dataloader, num_batches)


class _TrainLoader(PreparedLoader):
    continues = False  # from a checkpoint's state

    def continue_from(self, checkpoint: str) -> None:
        """Continues from the state in a checkpoint, if it has one."""
        try:
            with open(os.path.join(checkpoint, _STATE_FILE), encoding='utf-8') as file:
                saved = json.load(file)
        except FileNotFoundError:  # it was written by another Trainer
            return
        if saved['total_batch_size'] != self.total_batch_size:
            raise InvalidArgumentError(
                f'{checkpoint} is of a run with {saved["total_batch_size"]} samples per batch of '
                f'all ranks, this one has {self.total_batch_size}, and the Trainer counts steps: '
                'give it as many, or ignore_data_skip=True to begin the epoch anew')
        self.load_state_dict(saved['state'])
        self.continues = True


class _SaveState(transformers.TrainerCallback):
    """Stores the loader's state in each checkpoint."""

    def on_save(self, args, state, control, train_dataloader=None, **_):
        folder = os.path.join(args.output_dir, f'checkpoint-{state.global_step}')
        if not (args.should_save and isinstance(train_dataloader, _TrainLoader)
                and os.path.isdir(folder)):
            return
        saved = {'total_batch_size': train_dataloader.total_batch_size,
                 'state': train_dataloader.state_dict()}
        path = os.path.join(folder, _STATE_FILE)
        with open(path + '.part', 'w', encoding='utf-8') as file:
            json.dump(saved, file)
        os.replace(path + '.part', path)


class Trainer(transformers.Trainer):
    """transformers.Trainer that takes Loaders where it takes data sets.

    Each checkpoint has the training loader's state in recpack_loader.json. A run that is resumed
    from it trains on the batches that it would have trained on, and makes none only to skip it.

    A Loader's batch_size must be the TrainingArguments' per_device_train_batch_size or
    per_device_eval_batch_size. Evaluation on several ranks needs
    Loader(share="batches", last_batch="pad").

    Args:
        columns: As in PreparedLoader: the models' names of the arrays.
        options: As in transformers.Trainer. `train_dataset`, `eval_dataset` (also in a dictionary)
            and the data sets of evaluate() and predict() may be Loaders.
    """

    def __init__(self, *options: Any, columns: Mapping[str, str] | None = None, **more: Any):
        super().__init__(*options, **more)
        self._columns, self._checkpoint = columns, None
        transformers.trainer.skip_first_batches = _skip_first_batches
        self.add_callback(_SaveState())

    def train(self, resume_from_checkpoint: str | bool | None = None, *options: Any,
              **more: Any) -> Any:
        """Trains, as transformers.Trainer.train().

        Args:
            resume_from_checkpoint: Folder of a checkpoint; True: the last one.
            options: As in transformers.Trainer.
        """
        found = resume_from_checkpoint
        if found is True:
            found = get_last_checkpoint(self.args.output_dir)
        self._checkpoint = os.fspath(found) if found and not self.args.ignore_data_skip else None
        try:
            return super().train(resume_from_checkpoint, *options, **more)
        finally:
            self._checkpoint = None

    def get_train_dataloader(self) -> Any:
        """Returns the prepared training loader."""
        if not isinstance(self.train_dataset, Loader):
            return super().get_train_dataloader()
        self._check_size(self.train_dataset, 'per_device_train_batch_size')
        loader = _TrainLoader(self.train_dataset, self._columns)
        if self._checkpoint is not None:
            loader.continue_from(self._checkpoint)
        return loader

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        """Returns the prepared loader for evaluation.

        Args:
            eval_dataset: As in transformers.Trainer, or a Loader.
        """
        given = self.eval_dataset if eval_dataset is None else eval_dataset
        if isinstance(given, str):
            given = self.eval_dataset[given]
        if not isinstance(given, Loader):
            return super().get_eval_dataloader(eval_dataset)
        return self._for_evaluation(given)

    def get_test_dataloader(self, test_dataset: Any) -> Any:
        """Returns the prepared loader for predict().

        Args:
            test_dataset: As in transformers.Trainer, or a Loader.
        """
        if not isinstance(test_dataset, Loader):
            return super().get_test_dataloader(test_dataset)
        return self._for_evaluation(test_dataset)

    def _for_evaluation(self, loader: Loader) -> PreparedLoader:
        self._check_size(loader, 'per_device_eval_batch_size')
        prepared = PreparedLoader(loader, self._columns)
        if loader.world_size > 1 and loader.last_batch != 'drop' and not prepared.pads_at_the_end:
            raise InvalidArgumentError('the results of several ranks are gathered batch by batch: '
                                       'give Loader(share="batches", last_batch="pad")')
        loader.set_epoch(0)  # an evaluation that was left early begins anew
        return prepared

    def _check_size(self, loader: Loader, name: str) -> None:
        wanted = getattr(self.args, name)
        if loader.batch_size != wanted:
            raise InvalidArgumentError(f'the loader has batches of {loader.batch_size}, '
                                       f'TrainingArguments has {name}={wanted}: give both the same')

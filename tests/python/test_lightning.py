"""recpack_io.torch in a LightningDataModule: Lightning stores the loader's state itself."""
import json
import logging
import sys
import warnings

import lightning
import recpack_io
import torch
from recpack_io.torch import Loader
from support import CIFAR, InFolder, main, pack, run_ranks


class Cifar10(lightning.LightningDataModule):
    def __init__(self, shards):
        super().__init__()
        self.shards = shards

    def train_dataloader(self):
        fields = [*recpack_io.recipe('cifar10-train'), recpack_io.Id()]
        return Loader(recpack_io.open(self.shards), fields=fields, batch_size=8, seed=1)

    def val_dataloader(self):
        return Loader(recpack_io.open(self.shards, split='eval'), 'cifar10-eval', batch_size=8,
                      last_batch='keep')


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(3072, 10)
        self.trained_on, self.beside, self.validated = [], [], 0

    def training_step(self, batch):
        self.trained_on.append(batch['id'].tolist())
        self.beside.append((batch.ids.tolist(), batch.mask.tolist(), batch.epoch))
        logits = self.layer(batch['image'].flatten(1))
        return torch.nn.functional.cross_entropy(logits, batch['label'])

    def validation_step(self, batch):
        self.validated += len(batch['label'])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.001, momentum=0.9)


class Killed(Exception):
    pass


class KillBehind(lightning.Callback):
    def __init__(self, step, checkpoint):
        self.step, self.checkpoint = step, checkpoint

    def on_train_batch_end(self, trainer, *_):
        if trainer.global_step == self.step:
            trainer.save_checkpoint(self.checkpoint)
            raise Killed


class Lightning(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')
        warnings.filterwarnings('ignore')
        logging.getLogger('lightning.pytorch').setLevel(logging.ERROR)

    def fit(self, checkpoint=None, callbacks=()):
        model = Classifier()
        trainer = lightning.Trainer(max_epochs=3, accelerator='cpu', logger=False,
                                    enable_checkpointing=False, enable_progress_bar=False,
                                    enable_model_summary=False, callbacks=list(callbacks),
                                    default_root_dir=self.folder)
        try:
            trainer.fit(model, datamodule=Cifar10(self.folder / 'shards'), ckpt_path=checkpoint,
                        weights_only=False)
        except Killed:
            pass
        return model

    def test_epochs_are_the_loaders(self):
        model = self.fit()
        plain = recpack_io.Loader(self.dataset, fields=[recpack_io.Id()], batch_size=8, seed=1)
        self.assertEqual(model.trained_on,
                         [batch['id'].tolist() for _ in range(3) for batch in plain])
        plain.set_epoch(0)
        self.assertGreater(model.validated, 0)
        self.assertEqual(model.beside, [(batch.ids.tolist(), [True] * 8, epoch)
                                        for epoch in range(3) for batch in plain])

    def test_killed_and_gone_on(self):
        whole = self.fit()
        an_epoch = len(whole.trained_on) // 3
        for step in 1, an_epoch - 1, an_epoch + 2:
            checkpoint = self.folder / f'{step}.ckpt'
            killed = self.fit(callbacks=[KillBehind(step, checkpoint)])
            again = self.fit(checkpoint)
            self.assertEqual(killed.trained_on + again.trained_on, whole.trained_on, step)
            self.assertTrue(torch.equal(again.layer.weight, whole.layer.weight), step)


    def test_other_ranks_go_on(self):
        """A checkpoint of two ranks is continued by one with the same global batch."""
        program = self.folder / 'fit.py'
        program.write_text(f"""
import json, sys, warnings
sys.path[:0] = {sys.path!r}
import lightning, recpack_io, test_lightning
from recpack_io.torch import Loader
warnings.filterwarnings('ignore')
shards, checkpoint, count = sys.argv[1], sys.argv[2], int(sys.argv[3])

class Data(test_lightning.Cifar10):
    def train_dataloader(self):
        fields = [*recpack_io.recipe('cifar10-train'), recpack_io.Id()]
        return Loader(recpack_io.open(self.shards), fields=fields, batch_size=8 // count, seed=1)

trainer = lightning.Trainer(max_epochs=1, accelerator='cpu', devices=count, strategy='ddp' if count > 1 else 'auto', logger=False,
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                            limit_val_batches=0, use_distributed_sampler=False,
                            callbacks=[test_lightning.KillBehind(3, checkpoint)] if count > 1 else [])
model = test_lightning.Classifier()
try:
    trainer.fit(model, datamodule=Data(shards), ckpt_path=None if count > 1 else checkpoint, weights_only=False)
except test_lightning.Killed:
    pass
print(json.dumps(model.trained_on), flush=True)
""")
        seen = []
        for count in 2, 1:
            ranks = run_ranks(self, count, program, self.folder / 'shards', self.folder / 'two.ckpt', count)
            seen += [sorted(sum(parts, [])) for parts in zip(*map(json.loads, ranks))]
        plain = recpack_io.Loader(self.dataset, fields=[recpack_io.Id()], batch_size=8, seed=1)
        self.assertEqual(seen, [sorted(batch['id'].tolist()) for batch in plain])


if __name__ == '__main__':
    main()

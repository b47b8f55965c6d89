"""recpack_io.torch: batches as tensors, and a training that is killed and goes on."""
import os
import signal
import subprocess
import sys

import recpack_io
import torch
from recpack_io.torch import Loader
from support import CIFAR, InFolder, main, pack

TRAIN = '''
import os, sys, pathlib
import recpack_io, torch
from recpack_io.torch import Loader

shards, checkpoint, stop_after = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Linear(3072, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
loader = Loader(recpack_io.open(shards), "cifar10-train", batch_size=8, seed=1)
first = 0
if checkpoint.exists():
    saved = torch.load(checkpoint)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    loader.load_state_dict(saved["loader"])
    first = saved["epoch"]
steps = 0
for epoch in range(first, 3):
    loader.set_epoch(epoch)
    for batch in loader:
        loss = torch.nn.functional.cross_entropy(model(batch["image"].flatten(1)), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "loader": loader.state_dict(), "epoch": epoch}, str(checkpoint) + ".part")
        os.replace(str(checkpoint) + ".part", checkpoint)
        steps += 1
        if steps == stop_after:
            os.kill(os.getpid(), 9)
print(model.weight.double().sum().item(), loss.item())
'''


class Torch(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def test_tensors_without_a_copy(self):
        plain = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8)
        for mine, theirs in zip(plain, Loader(self.dataset, 'cifar10-train', batch_size=8), strict=True):
            self.assertTrue(torch.equal(torch.from_dlpack(mine.dlpack('image')), theirs['image']))
            self.assertEqual(mine.dlpack('label').__dlpack_device__()[0], 1)
            self.assertEqual(theirs['label'].tolist(), mine['label'].tolist())

    def test_bf16(self):
        fields = recpack_io.recipe('cifar10-eval', type='bf16')
        exact = Loader(self.dataset, fields=recpack_io.recipe('cifar10-eval'), batch_size=8)
        for rounded, f32 in zip(Loader(self.dataset, fields=fields, batch_size=8), exact, strict=True):
            self.assertTrue(torch.equal(rounded['image'], f32['image'].bfloat16()))

    def test_the_mask_tells_what_only_fills_up(self):
        loader = Loader(self.dataset, 'cifar10-eval', batch_size=7, last_batch='pad', order='sequential')
        masks = [batch.mask for batch in loader]
        self.assertTrue(all(mask.dtype == torch.bool for mask in masks))
        self.assertTrue(all(len(mask) == 7 for mask in masks))
        self.assertEqual(sum(int(mask.sum()) for mask in masks), len(self.dataset))

    def test_tensors_keep_the_batch(self):
        loader = Loader(self.dataset, 'cifar10-train', batch_size=8, prefetch=4)
        image = next(iter(loader))['image']
        copy = image.clone()
        del loader
        self.assertTrue(torch.equal(image, copy))

    def test_killed_and_gone_on(self):
        def run(checkpoint, stop_after):
            return subprocess.run([sys.executable, '-c', TRAIN, str(self.folder / 'shards'),
                                   str(self.folder / checkpoint), str(stop_after)],
                                  text=True, capture_output=True, timeout=300, check=False)
        whole = run('whole', -1)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        for stop_after in 3, 8, 13:
            name = f'killed {stop_after}'
            self.assertEqual(run(name, stop_after).returncode, -signal.SIGKILL)
            again = run(name, -1)
            self.assertEqual((again.stdout, again.returncode), (whole.stdout, 0), again.stderr)

    def test_rank_of_torch_distributed(self):
        torch.distributed.init_process_group('gloo', rank=0, world_size=1,
                                             init_method=f'file://{self.folder}/store')
        self.addCleanup(torch.distributed.destroy_process_group)
        os.environ |= {'RANK': '1', 'WORLD_SIZE': '2'}
        self.addCleanup(lambda: [os.environ.pop(name) for name in ('RANK', 'WORLD_SIZE')])
        ids = [number for batch in recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8)
               for number in batch.ids]
        self.assertEqual(len(set(ids)), 8 * (len(self.dataset) // 8))

    def test_a_map_style_dataset(self):
        """Torch's own DataLoader takes records, in worker processes too."""
        for workers, context in (0, None), (2, 'fork'), (2, 'spawn'):
            loader = torch.utils.data.DataLoader(
                self.dataset, batch_size=8, num_workers=workers, collate_fn=labels,
                multiprocessing_context=context)
            self.assertEqual([label for batch in loader for label in batch],
                             [int(record['label'][0]) for record in self.dataset])


def labels(records):
    return [int(record['label'][0]) for record in records]


if __name__ == '__main__':
    main()

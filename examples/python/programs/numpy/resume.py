"""Saves the loader's state in the middle of an epoch, and continues from it in another process."""
import sys

import recpack_io

loader = recpack_io.Loader("shards", "cifar10-train", batch_size=8, seed=1)
loader.load_state("state.json", missing_ok=True)
for number, batch in enumerate(loader):
    print(batch.epoch, batch.ids.tolist())
    loader.save_state("state.json")
    if "--stop" in sys.argv and number == 2:
        sys.exit()

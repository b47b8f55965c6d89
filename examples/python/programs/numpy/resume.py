"""Saves the loader's state in the middle of an epoch, and continues from it in another process."""
import json
import pathlib
import sys

import recpack_io

loader = recpack_io.Loader(recpack_io.open("shards"), "cifar10-train", batch_size=8, seed=1)
saved = pathlib.Path("state.json")
if saved.exists():
    loader.load_state_dict(json.loads(saved.read_text()))
for number, batch in enumerate(loader):
    print(batch.epoch, batch.ids.tolist())
    saved.write_text(json.dumps(loader.state_dict()))
    if "--stop" in sys.argv and number == 2:
        sys.exit()

"""Trains on although a record is damaged: another one takes its place, and the ledger says so."""
import pathlib

import recpack_io

shard = next(pathlib.Path("shards").glob("train-*.tfrecord"))
content = bytearray(shard.read_bytes())
content[5000] ^= 1
shard.write_bytes(content)
loader = recpack_io.Loader("shards", "cifar10-train", batch_size=16, on_bad_record="substitute",
                           max_bad_share=0.1, ledger="ledger.jsonl")
print(f"{sum(len(batch['label']) for batch in loader)} samples")
for each in loader.substitutions():
    print(f"record {each.taken} in place of {each.bad}: {each.reason}")

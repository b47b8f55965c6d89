"""Packs a CSV of files with several labels each, and gives them as a vector of zeros and ones."""
import recpack_io

recpack_io.pack("list.csv", "listed", columns={"tags": "bytes"}, fields={"image": "path", "tags": "tags", "age": "age"})
fields = [recpack_io.Image(height=32, width=32, crop="resize"), recpack_io.Numbers("age"),
          recpack_io.MultiHot("tags", ["cat", "dog", "outdoors"], separator="|")]
for batch in recpack_io.Loader("listed", fields=fields, batch_size=2, order="sequential"):
    print(batch["image"].shape, batch["age"].tolist(), batch["tags"].tolist())

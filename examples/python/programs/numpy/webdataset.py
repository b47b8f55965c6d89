"""Loads WebDataset tars as they are, in random order."""
import recpack_io

dataset = recpack_io.open("tars/part-{000..001}.tar", fields={"image": "jpg;png", "label": "cls"})
loader = recpack_io.Loader(dataset, fields=recpack_io.recipe("imagenet-eval", height=32, width=32, resize=36), batch_size=2)
for batch in loader:
    print(batch["image"].shape, batch["label"].tolist())

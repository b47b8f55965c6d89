"""Loads WebDataset tars as they are, in random order."""
import recpack_io

tars = recpack_io.open("tars/part-{000..001}.tar", fields={"image": "jpg;png", "label": "cls"})
fields = recpack_io.recipe("imagenet-eval", height=32, width=32, resize=36)
for batch in recpack_io.Loader(tars, fields=fields, batch_size=2):
    print(batch["image"].shape, batch["label"].tolist())

"""Keeps decoded images in memory, so that later epochs only augment them."""
import recpack_io

fields = recpack_io.recipe("imagenet-train", height=32, width=32)
loader = recpack_io.Loader("photos", fields=fields, batch_size=4, cache="pictures")
for epoch in range(3):
    batches = sum(1 for _ in loader)
    print(f"epoch {epoch}: {batches} batches, {loader.stats()['stages']['decode']['count']} images decoded so far")

"""Trains on easy records first: another selection in each epoch, with the same loader options."""
import recpack_io

dataset = recpack_io.open("shards")
contrast = [float(record["image"].std()) for record in dataset]
order = sorted(range(len(dataset)), key=contrast.__getitem__)
for epoch, share in enumerate((0.25, 0.5, 1.0)):
    easy = dataset.subset(order[:int(share * len(dataset))])
    loader = recpack_io.Loader(easy, "cifar10-train", batch_size=8, seed=1)
    loader.set_epoch(epoch)
    print(f"epoch {epoch}: {sum(len(batch['label']) for batch in loader)} samples")

"""The recipes that peers' loaders share in the benches do the work that the tables state."""
import sys
import types
import unittest

import numpy as np
import torch
from torchvision.transforms import v2

from support import ROOT, main

sys.path.insert(0, str(ROOT / 'bench' / 'peers'))
import recipes
import torch_recipes

ROWS = np.random.default_rng(3).integers(0, 256, (200, 3, 32, 32), dtype=np.uint8)


def draws(row: np.ndarray) -> np.ndarray:
    """All 162 results that the CIFAR recipe can draw of a row."""
    padded = np.pad(row, ((0, 0), (4, 4), (4, 4)))
    crops = np.stack([padded[:, y:y + 32, x:x + 32] for y in range(9) for x in range(9)])
    return np.concatenate([crops, crops[..., ::-1]])


class Recipes(unittest.TestCase):
    def test_each_row_is_one_of_its_crops_flipped_or_not(self):
        made = torch_recipes.CropAndFlip(floats=False).of_rows([row.tobytes() for row in ROWS]).numpy()
        self.assertEqual((made.dtype, made.shape), (np.uint8, ROWS.shape))
        drawn = [np.flatnonzero((draws(row) == image).all((1, 2, 3))) for row, image in zip(ROWS, made)]
        self.assertEqual({len(which) for which in drawn}, {1})
        which = np.concatenate(drawn)
        self.assertEqual(len(set(which % 81 // 9)), 9)  # 200 draws: each offset is missed once in 10 ** 9 runs
        self.assertEqual(len(set(which % 9)), 9)
        self.assertEqual(len(set(which // 81)), 2)

    def test_floats_are_normalised_rows(self):
        augment = torch_recipes.CropAndFlip(floats=True)
        mean, std = (np.array(v).reshape(3, 1, 1) for v in (recipes.CIFAR_MEAN, recipes.CIFAR_STD))
        for row, image in zip(ROWS, augment.of_rows([row.tobytes() for row in ROWS[:20]]).numpy()):
            self.assertEqual(image.dtype, np.float32)
            self.assertLess(np.abs((draws(row) - mean) / std - image).max((1, 2, 3)).min(), 1e-5)

    def test_a_smaller_batch_behind_a_larger_one(self):
        augment = torch_recipes.CropAndFlip(floats=False)
        for count in (20, 7, 30):
            made = augment.of_rows([row.tobytes() for row in ROWS[:count]]).numpy()
            self.assertEqual(len(made), count)
            self.assertTrue(all((draws(row) == image).all((1, 2, 3)).any() for row, image in zip(ROWS, made)))

    def test_a_batch_of_photos_is_what_torchvision_makes_of_each(self):
        photo = torch.from_numpy(ROWS).permute(1, 0, 2, 3).reshape(3, -1, 320)
        normalise = v2.Normalize([m / 255 for m in recipes.IMAGENET_MEAN], [s / 255 for s in recipes.IMAGENET_STD])
        for floats in (False, True):
            job = types.SimpleNamespace(floats=floats, antialias=True)
            crops = [torch_recipes.crop_transform(job)(photo) for _ in range(3)]
            batch, labels = torch_recipes.CropBatch(job)([(crop, i) for i, crop in enumerate(crops)])
            expected = torch.stack(crops)
            if floats:
                expected = normalise(v2.functional.to_dtype(expected, torch.float32, scale=True))
            self.assertEqual(labels.tolist(), [0, 1, 2])
            self.assertEqual((batch.dtype, batch.shape), (expected.dtype, (3, 3, recipes.SIDE, recipes.SIDE)))
            self.assertTrue(torch.allclose(batch, expected, atol=1e-5))


if __name__ == '__main__':
    main()

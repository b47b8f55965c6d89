"""Packs data sets and makes batches on a Ray cluster, and connects data sets to Ray Data.

    import ray, recpack_io.ray
    recpack_io.ray.pack("/shared/photos", "/shared/shards")
    ds = ray.data.read_datasource(recpack_io.ray.Datasource("/shared/shards"))
    ds.write_datasink(recpack_io.ray.Datasink("/shared/other"))
    loader = recpack_io.ray.Loader(recpack_io.open("/shared/shards"), "imagenet-train")

Paths must be those of a file system that every node sees at the same place, or URLs.
"""
from recpack_io.ray.data import Datasink, Datasource
from recpack_io.ray.loading import Loader
from recpack_io.ray.packing import pack

__all__ = ['Datasink', 'Datasource', 'Loader', 'pack']

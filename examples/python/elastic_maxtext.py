"""MaxText's trainer on a data set of recpack: started again with more or fewer hosts, it goes on in mid-epoch.

    python examples/python/elastic_maxtext.py base.yml dataset_type=grain grain_train_files=shards \\
        "train_data_columns=['tokens']" tokenize_train_data=false max_target_length=2048 ...

The arguments are those of maxtext.trainers.pre_train.train. Records are sequences of max_target_length + 1 tokens.
MaxText's own checkpoints have the position in the data set.
"""
import recpack_io.maxtext
from absl import app
from maxtext.trainers.pre_train import train

if __name__ == '__main__':
    recpack_io.maxtext.use()
    app.run(train.main)

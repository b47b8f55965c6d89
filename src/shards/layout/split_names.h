// Inference of splits from shard names, for data sets without a manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace recpack {

// Split of shards whose names do not contain one.
inline constexpr char kUnnamedSplit[] = "all";

// Parts of a name such as "train-00000-of-00012.tfrecord" or
// "train-append1-00000-of-00003.tfrecord".
struct NumberedName {
  std::string split;     // "train"
  std::string siblings;  // common part of the names of all shards with this numbering
  uint64_t number = 0;
  uint64_t count = 0;
};

// Tells whether the name has an extension of TFRecord files: .tfrecord, .tfrecords, or .record and
// .tfrec as the TF Object Detection API and Kaggle write them, also before another extension (.gz)
// or before the shard's number ("train.record-00000-of-00010").
bool HasShardExtension(std::string_view name);

// Returns nullopt if the name does not have this form.
std::optional<NumberedName> ParseNumberedName(const std::string& name);

// Returns the split of a shard: "train" for "train-00000-of-00012.tfrecord",
// "train.record-00000-of-00012" and "train-append1-00000-of-00003.tfrecord"; for other names the
// split word (train, validation, eval, test, ...) delimited by '-', '_' and '.': "train.tfrecords",
// "cifar10_eval_07.tfrecord.gz". Returns kUnnamedSplit if there is none, or more than one such
// word.
std::string InferSplit(const std::string& name);

// Returns a notice for the user if the names do not make clear which split the files belong to:
// only some of them contain a split, or names without one differ by more than their numbers.
// `names` are file names, in any order.
std::optional<std::string> UnclearSplits(const std::vector<std::string>& names);

}  // namespace recpack

// Splits as the names of shards tell them, where there is no manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace recpack {

// The split of shards whose names tell none.
inline constexpr char kUnnamedSplit[] = "all";

// A name as "train-00000-of-00012.tfrecord" or "train-append1-00000-of-00003.tfrecord".
struct NumberedName {
  std::string split;     // "train"
  std::string siblings;  // what the names of all shards of one numbering share
  uint64_t number = 0;
  uint64_t count = 0;
};

// Nothing where the name is not numbered so.
std::optional<NumberedName> ParseNumberedName(const std::string& name);

// "train" of "train-00000-of-00012.tfrecord" and "train-append1-00000-of-00003.tfrecord"; the word
// for a split (train, validation, eval, test, ...) that the name of any other file has, between
// '-', '_' and '.': "train.tfrecords", "cifar10_eval_07.tfrecord.gz". Else, and where it has two
// such words, kUnnamedSplit.
std::string SplitOfName(const std::string& name);

// What the user should hear where names leave it open which split the files belong to: some tell
// one and others none, or names that tell none differ by more than their numbers. `names` are of
// files, in any order.
std::optional<std::string> UnclearSplits(const std::vector<std::string>& names);

}  // namespace recpack

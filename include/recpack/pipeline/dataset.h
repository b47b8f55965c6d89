// A data set as a loader sees it: numbered records of one split.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/pipeline/sample_source.h"
#include "recpack/record/source.h"

namespace recpack {

class SampleStore;

struct DatasetOptions {
  // Empty: "train", or the only split there is.
  std::string split = {};
  // Shards are read through it, but for mapped ones. Null: PosixFiles(); outlives the data set.
  FileSystem* files = nullptr;
};

// Immutable; any number of threads.
class Dataset {
 public:
  // `path`: a folder of shards, a manifest, a shard, or a pattern such as "shards/train-*" or
  // "{a,b}/train-{00000..00003}-of-00004". Records are found by the split's index; one that is
  // missing or stale is made by scanning, in memory. Throws Error: kNotFound, kCorrupt;
  // kUnsupported for shards that others compressed as one stream, which have no random access.
  static Dataset Open(const std::string& path, const DatasetOptions& options = {});

  // Several of these as one data set: the split's shards in the order of the list, wherever they
  // lie. Throws besides: kInvalidArgument for a shard that is there twice, and for manifests whose
  // class names differ.
  static Dataset Open(const std::vector<std::string>& paths, const DatasetOptions& options = {});

  const std::string& path() const noexcept { return path_; }
  const std::string& split() const noexcept { return split_; }
  uint64_t records() const noexcept;
  uint64_t bytes() const noexcept;  // of shards
  const std::vector<std::string>& class_names() const noexcept { return class_names_; }

  // Tells data sets apart by the names, sizes and record counts of their shards, never by their
  // contents: 16 hexadecimal digits for all of it, then 4 for each eighth of the shards.
  const std::string& digest() const noexcept { return digest_; }

  // Says which shards make this data set another than the one that had `digest`; empty: none.
  std::string DifferenceFrom(const std::string& digest) const;

  // A reader of its records, for one thread.
  std::unique_ptr<SampleSource> NewSource(const SourceOptions& options = {}) const;

  // Where the record lies, for messages.
  Place PlaceOf(uint64_t ordinal) const;

 private:
  Dataset(std::string path, std::string split, std::vector<std::string> class_names,
          std::shared_ptr<const SampleStore> store);

  std::string path_;
  std::string split_;
  std::vector<std::string> class_names_;
  std::shared_ptr<const SampleStore> store_;
  std::string digest_;
};

}  // namespace recpack

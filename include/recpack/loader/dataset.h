// Data set: the numbered records of one split.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/example/field_map.h"
#include "recpack/example/view.h"
#include "recpack/loader/sample_source.h"
#include "recpack/record/random_access_reader.h"

namespace recpack {

class FeatureMapper;
class SampleStore;
namespace pack {
class Source;
}

struct DatasetOptions {
  // Default: "train", or the only split.
  std::string split = {};
  // File system to read shards with, except mapped ones. Null: PosixFiles(). Must outlive the data
  // set.
  FileSystem* files = nullptr;
  // Aliases of features: "image=jpg;jpeg,label=cls" (see ParseFieldMap()). For shards, records stay
  // unchanged and a mapped feature is also found under its target: `image` as image/encoded and
  // image, `label` as image/class/label and label. For tars and lists, records are made of these
  // fields, as recpack pack makes them.
  FieldMap fields = {};
  // Number of the first class, subtracted from every label: 1 for labels 1 to N.
  int64_t label_offset = 0;
};

struct SplitSize {
  std::string name;
  uint64_t records = 0;
};

// Returns the splits of the data set or source that Dataset::Open() opens at `paths`, in their
// order. Throws what Open() throws.
std::vector<SplitSize> ListSplits(const std::vector<std::string>& paths,
                                  const DatasetOptions& options = {});

// Tells whether `paths` are sources of items that are not packed, as Dataset::Open() takes them.
// Throws Error: kInvalidArgument if there is no path, kUnsupported if their kinds differ.
bool IsUnpacked(const std::vector<std::string>& paths);

// Immutable and thread-safe. Cheap to copy.
class Dataset {
 public:
  // Opens a data set. `path` names shards: a folder, a manifest, a shard, or a pattern such as
  // "train-*" or "{a,b}/train-{00000..00003}-of-00004". Records are located by the split's index;
  // if it is missing, damaged or belongs to other shards, the shards are scanned and the index is
  // kept in memory. A shard whose size differs from the manifest's or the index's is an error,
  // thrown here or when the shard is opened to read a record; LoaderOptions::on_bad_record then
  // applies.
  //
  // Alternatively `path` names a source that recpack pack recognises: a folder of class folders,
  // uncompressed tar archives of samples ("x-{000..003}.tar"), a list (.csv, .tsv, .jsonl), or
  // CIFAR. Each sample is then made on reading, byte for byte as packing would write it. Memory: as
  // stated at OpenFolder(), OpenTar() and OpenList(), some tens of bytes per file.
  // RandomAccessOptions do not apply to these.
  //
  // Throws Error: kNotFound, kIo, kCorrupt; kInvalidArgument if the path is none of these;
  // kUnsupported for shards and tars compressed as one stream, which have no random access.
  static Dataset Open(const std::string& path, const DatasetOptions& options = {});

  // Opens several paths as one data set: the split's shards in the order of the list, or tar
  // archives. Also throws kInvalidArgument if a shard or archive is listed twice or if the
  // manifests' class names differ, and kUnsupported for other sources.
  static Dataset Open(const std::vector<std::string>& paths, const DatasetOptions& options = {});

  // Makes a data set of a source's items; each sample is the record that packing would write. Uses
  // only `split` and `label_offset` of the options.
  static Dataset OfSource(std::shared_ptr<const pack::Source> source, const std::string& path,
                          const DatasetOptions& options = {});

  const std::string& path() const noexcept { return path_; }
  const std::string& split() const noexcept { return split_; }
  uint64_t records() const noexcept;
  uint64_t bytes() const noexcept;  // of the shards; for items, an estimate of their records' size
  const std::vector<std::string>& class_names() const noexcept { return class_names_; }

  // Identifies the data set by the names, sizes and record counts of its shards (or classes,
  // archives and their files), independent of their location and contents: 16 hexadecimal digits
  // for the whole, then 4 for each eighth of the shards, classes or archives.
  const std::string& digest() const noexcept { return digest_; }

  // Describes how this data set differs from the one with `digest`; empty if it does not.
  std::string DifferenceFrom(const std::string& digest) const;

  // Returns a reader of the records, for one thread.
  std::unique_ptr<SampleSource> NewSource(const RandomAccessOptions& options = {}) const;

  // Applies the field map and the label offset to a parsed record. Throws Error without a place:
  // kNotFound if a mapped feature is missing, kCorrupt if a label is below the offset, kUnsupported
  // if a label is not a number.
  void MapFeatures(ExampleView& example) const;

  // Returns the record's location, for messages. Items of sources have a path only.
  Place FindPlace(uint64_t ordinal) const;

  // Returns notices for the user, such as files that were ignored or splits guessed from file
  // names.
  std::vector<std::string> Notices() const;

 private:
  Dataset(std::string path, std::string split, std::vector<std::string> class_names,
          std::shared_ptr<const SampleStore> store, std::shared_ptr<const FeatureMapper> mapper,
          std::vector<std::string> notices);

  std::string path_;
  std::string split_;
  std::vector<std::string> class_names_;
  std::shared_ptr<const SampleStore> store_;
  std::shared_ptr<const FeatureMapper> mapper_;
  std::string digest_;
  std::vector<std::string> notices_;  // about file names
};

}  // namespace recpack

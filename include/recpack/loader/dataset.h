// A data set as a loader sees it: numbered records of one split.
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
  // Empty: "train", or the only split there is.
  std::string split = {};
  // Shards are read through it, but for mapped ones. Null: PosixFiles(); outlives the data set.
  FileSystem* files = nullptr;
  // Features that are found as others: "image=jpg;jpeg,label=cls" (ParseFieldMap()). Of shards,
  // records stay as they are, a mapped feature is found under its target as well: `image` as
  // image/encoded and image, `label` as image/class/label and label. Tars and lists make their
  // records of these fields, as recpack pack does.
  FieldMap fields = {};
  // The number of the first class, taken off every label: 1 for labels 1 to N.
  int64_t label_offset = 0;
};

// Immutable; any number of threads; copies are cheap.
class Dataset {
 public:
  // `path`: shards, as a folder of them, a manifest, a shard, or a pattern such as "train-*" or
  // "{a,b}/train-{00000..00003}-of-00004". Records are found by the split's index; one that is
  // missing, damaged or not of these shards is made by scanning, in memory. A shard whose size is
  // not the manifest's or the index's is an error, here or when it is opened to read a record,
  // which LoaderOptions::on_bad_record may then replace.
  //
  // Or what recpack pack recognises: a folder of class folders, uncompressed tar archives of
  // samples ("x-{000..003}.tar"), a list (.csv, .tsv, .jsonl), CIFAR. Each sample is the record
  // that packing it would write, byte for byte, made when it is read. Memory: what OpenFolder(),
  // OpenTar() and OpenList() say, some tens of bytes a file. SourceOptions do not matter to these.
  //
  // Throws Error: kNotFound, kIo, kCorrupt; kInvalidArgument for what is none of these;
  // kUnsupported for shards and tars that are compressed as one stream, which have no random
  // access.
  static Dataset Open(const std::string& path, const DatasetOptions& options = {});

  // Several as one data set: the split's shards in the order of the list, wherever they lie, or tar
  // archives. Throws besides: kInvalidArgument for a shard or archive that is there twice, and for
  // manifests whose class names differ; kUnsupported for anything else in a list.
  static Dataset Open(const std::vector<std::string>& paths, const DatasetOptions& options = {});

  // Items of any source, each as the record that packing it would write. Of the options, `split`
  // and `label_offset` count.
  static Dataset OfSource(std::shared_ptr<const pack::Source> source, const std::string& path,
                          const DatasetOptions& options = {});

  const std::string& path() const noexcept { return path_; }
  const std::string& split() const noexcept { return split_; }
  uint64_t records() const noexcept;
  uint64_t bytes() const noexcept;  // of shards; of items about what their records will have
  const std::vector<std::string>& class_names() const noexcept { return class_names_; }

  // Tells data sets apart by the names, sizes and record counts of their shards, or of classes,
  // archives and their files, wherever they lie, never by their contents: 16 hexadecimal digits for
  // all of it, then 4 for each eighth of the shards, classes or archives.
  const std::string& digest() const noexcept { return digest_; }

  // Says which of them make this data set another than the one that had `digest`; empty: none.
  std::string DifferenceFrom(const std::string& digest) const;

  // A reader of its records, for one thread.
  std::unique_ptr<SampleSource> NewSource(const SourceOptions& options = {}) const;

  // Lets the features of a record be found as the options say; called on each that was parsed.
  // Throws Error without a place: kNotFound where a mapped feature is missing, kCorrupt for a label
  // below the offset, kUnsupported for a label that is no number.
  void MapFeatures(ExampleView& example) const;

  // Where the record lies, for messages. Items of sources have a path only.
  Place PlaceOf(uint64_t ordinal) const;

  // What the user should hear of, as of files that were left out, or whose names leave their split
  // open.
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
  std::vector<std::string> notices_;  // of the files' names
};

}  // namespace recpack

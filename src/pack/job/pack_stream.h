// Packs a stream of records whose number is not known in advance.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/example/builder.h"
#include "recpack/record/writer.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

struct PackStreamOptions {
  std::string out;                       // folder; created if it does not exist
  uint64_t shard_bytes = 100'000'000;    // maximum, unless a single record is larger
  WriterOptions writer = {};             // writer.digest: SHA-256 of each shard into the manifest
  std::vector<std::string> class_names;  // by label
  std::string created_by = "recpack";
  bool sync = true;        // sync every file before renaming it into place
  bool overwrite = false;  // in Finish(), remove what an earlier pack wrote to `out`
  FileSystem* files = &PosixFiles();
};

// Writes the same data set as Pack(), with shards in the order of the records, but without a plan:
// an interrupted stream cannot be resumed. Shards get their names in Finish(); if the object is
// destroyed before, everything written is removed. Holds the folder's lock. Not thread-safe.
class PackStream {
 public:
  // Throws Error: kInvalidArgument if `out` is not empty, another process packs into it, or the
  // shard size is 0 bytes; kIo.
  explicit PackStream(const PackStreamOptions& options);
  ~PackStream();
  PackStream(PackStream&&) noexcept;

  // Starts a split; records added from now on belong to it. Throws Error (kInvalidArgument) if the
  // name was used before or cannot be the beginning of a shard name.
  void BeginSplit(const std::string& name);

  // Adds one record to the split. Its class is the feature image/class/label, or else label, if
  // that is a single int64. Throws Error: as ExampleBuilder::ByteSize() does, after which other
  // records can be added; kInvalidArgument without a split; kIo.
  void Add(ExampleBuilder& features);

  uint64_t records() const noexcept;  // added so far

  // Gives the shards their names and writes index and manifest. Call once. Throws Error:
  // kInvalidArgument if there are no records; kIo.
  Manifest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::pack

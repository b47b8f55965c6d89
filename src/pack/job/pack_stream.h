// Packs records that come one after the other, and of which nobody knows how many there will be.
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
  std::string out;                       // folder; made if it is not there
  uint64_t shard_bytes = 100'000'000;    // frames of a shard at most, but for one larger record
  WriterOptions writer = {};             // writer.digest: SHA-256 of each shard into the manifest
  std::vector<std::string> class_names;  // by label
  std::string created_by = "recpack";
  bool sync = true;        // every file, before it is renamed into place
  bool overwrite = false;  // remove what an earlier pack made in `out`, once all records came
  FileSystem* files = &PosixFiles();
};

// Writes a data set as Pack() does, shards in the order of the records, but without a plan: what is
// interrupted begins anew. No shard has its name before Finish(), and what was written is removed
// where this is destroyed before. One thread at a time. Holds the folder's lock.
class PackStream {
 public:
  // Throws Error: kInvalidArgument where `out` holds something, another packer is at work in it, or
  // a shard is to have 0 bytes; kIo.
  explicit PackStream(const PackStreamOptions& options);
  ~PackStream();
  PackStream(PackStream&&) noexcept;

  // What is added from now on belongs to this split. Throws Error (kInvalidArgument) for a name
  // that was given before, or that no shard can begin with.
  void BeginSplit(const std::string& name);

  // Adds one record to the split. Its class is its feature image/class/label, else label, where
  // that is one int64. Throws Error as ExampleBuilder::ByteSize() does, and then goes on without
  // it; kInvalidArgument without a split; kIo.
  void Add(ExampleBuilder& features);

  uint64_t records() const noexcept;  // added

  // Gives the shards their names and writes index and manifest. To be called once. Throws Error:
  // kInvalidArgument where there is no record; kIo.
  Manifest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::pack

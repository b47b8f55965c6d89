// Split of shards in a temporary folder, with its index and payloads.
#pragma once

#include <string>
#include <vector>

#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/base/format.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/memory_files.h"

namespace recpack {

class SplitOnDisk {
 public:
  // Writes one shard per list of payloads.
  explicit SplitOnDisk(std::vector<std::vector<ByteBuffer>> shards, WriterOptions options = {}) {
    IndexWriter index(PosixFiles().Create(index_path()));
    for (const auto& shard : shards) {
      const std::string name = format("s-{:05}", names_.size());
      RecordWriter writer(PosixFiles().Create(folder_ / name), options);
      for (const ByteBuffer& payload : shard) writer.Write(payload);
      writer.Finish(false);
      index.AddShard(writer.entries());
      names_.push_back(name);
      payloads_.insert(payloads_.end(), shard.begin(), shard.end());
    }
    index.Finish(false);
  }

  std::string folder() const { return folder_.path(); }
  std::string index_path() const { return folder_ / "index"; }
  std::string shard_path(size_t shard) const { return folder_ / names_[shard]; }
  Index index() const { return Index::Open(index_path()); }
  const std::vector<ByteBuffer>& payloads() const { return payloads_; }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> names_;
  std::vector<ByteBuffer> payloads_;
};

}  // namespace recpack

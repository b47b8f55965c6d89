// Shards whose records can be read in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/dataset/layout.h"
#include "recpack/dataset/source.h"
#include "recpack/record/index.h"
#include "src/dataset/open_files.h"
#include "src/dataset/read_buffer.h"
#include "src/dataset/record_filter.h"
#include "src/dataset/spool_file.h"

namespace recpack {

// Where the records of one shard lie. 4 bytes a record and 8 for every 64.
class RecordPlaces {
 public:
  // `begin`: offset of the first frame.
  void Begin(uint64_t begin) { end_ = begin; }
  void Add(uint32_t length);

  uint64_t size() const { return lengths_.size(); }
  uint32_t length(uint64_t ordinal) const { return lengths_[ordinal]; }
  uint64_t OffsetOf(uint64_t ordinal) const;

 private:
  std::vector<uint32_t> lengths_;
  std::vector<uint64_t> blocks_;  // offsets of every 64th frame
  uint64_t end_ = 0;
};

struct RecordShard {
  std::string path;
  uint64_t file_bytes = 0;
  const SpoolFile* spool = nullptr;  // where it is unpacked to; null: the file itself
  RecordPlaces places;
  std::optional<std::vector<uint32_t>> kept;  // ordinals that passed the filter; empty: all
  uint64_t first_item = 0;                    // in its split

  uint64_t items() const { return kept ? kept->size() : places.size(); }
  uint64_t OrdinalOf(uint64_t item) const { return kept ? (*kept)[item] : item; }
};

// An item's shard and its ordinal in it.
struct RecordPlace {
  size_t split = 0;
  size_t shard = 0;
  uint64_t ordinal = 0;
};

// All shards of a layout. Immutable once made; any number of threads.
class RecordShards {
 public:
  // Reads indexes, scans or unpacks shards, in parallel. Throws Error.
  RecordShards(const Layout& layout, const RecordFilter& filter, const std::string& work_folder,
               int threads);

  const std::vector<SourceSplit>& splits() const { return splits_; }
  const std::vector<std::vector<RecordShard>>& shards() const { return shards_; }  // by split
  RecordPlace Find(size_t split, uint64_t item) const;
  const RecordShard& ShardOf(const RecordPlace& place) const {
    return shards_[place.split][place.shard];
  }

 private:
  // `index` may be null; the shard is at `number` in it, if it is in it.
  void Open(RecordShard& shard, const Index* index, size_t number, const RecordFilter& filter);
  void ReadThrough(RecordShard& shard, const RecordFilter& filter, bool unpack);

  std::vector<SourceSplit> splits_;
  std::vector<std::vector<RecordShard>> shards_;
  SpoolPool spools_;
};

// Reads records and checks their CRCs. One a reader; one thread at a time.
class RecordShardReader {
 public:
  // `shards` is not owned and must outlive the reader.
  explicit RecordShardReader(const RecordShards& shards) : shards_(shards) {}

  // The payload lives until the next call. Throws Error: kCorrupt with the record's place, kIo.
  ByteView Read(const RecordPlace& place);

 private:
  const RecordShards& shards_;
  OpenFiles files_;
  ReadBuffer buffer_;
};

}  // namespace recpack

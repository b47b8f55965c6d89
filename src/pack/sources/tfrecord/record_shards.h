// Random access to the records of TFRecord shards.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/record/index.h"
#include "recpack/record/random_access_reader.h"
#include "src/base/spool_file.h"
#include "src/pack/item/source.h"
#include "src/pack/sources/tfrecord/record_filter.h"
#include "src/shards/files/open_files.h"
#include "src/shards/files/read_buffer.h"
#include "src/shards/layout/layout.h"

namespace recpack::pack {

// Offsets of the records of a shard. Memory: 4 bytes a record and 8 for every 64.
class RecordPlaces {
 public:
  // Sets the offset of the first frame.
  void Begin(uint64_t begin) { end_ = begin; }
  void Add(uint32_t length);

  uint64_t size() const { return lengths_.size(); }
  uint32_t length(uint64_t ordinal) const { return lengths_[ordinal]; }
  uint64_t Offset(uint64_t ordinal) const;

 private:
  std::vector<uint32_t> lengths_;
  std::vector<uint64_t> blocks_;  // offsets of every 64th frame
  uint64_t end_ = 0;
};

struct RecordShard {
  std::string path;
  uint64_t file_bytes = 0;
  Compression compression = Compression::kNone;
  const SpoolFile* spool = nullptr;  // its unpacked content; null: read the file itself
  std::optional<uint64_t> first_id;  // in the source of its split, which inflates it piecewise
  RecordPlaces places;
  // Masked CRC of each payload that the index gives; empty: unknown, or compared by the source.
  std::vector<uint32_t> crcs;
  std::optional<std::vector<uint32_t>> kept;  // ordinals that passed the filter; nullopt: all
  uint64_t first_item = 0;                    // in its split

  uint64_t items() const { return kept ? kept->size() : places.size(); }
  uint64_t Ordinal(uint64_t item) const { return kept ? (*kept)[item] : item; }
};

// Shard of an item, and its ordinal in the shard.
struct RecordPlace {
  size_t split = 0;
  size_t shard = 0;
  uint64_t ordinal = 0;
};

struct RecordShardsOptions {
  std::string work_folder;  // for spool files
  // Records will be read mostly in order: compressed shards with flush points in the index are then
  // inflated piece by piece instead of being unpacked first.
  bool in_order = true;
  int threads = 0;  // threads that open shards; 0: AvailableThreads()
};

// All shards of a layout. Immutable and thread-safe once constructed.
class RecordShards {
 public:
  // Reads indexes, and scans or unpacks shards, in parallel. Throws Error.
  RecordShards(const Layout& layout, const RecordFilter& filter,
               const RecordShardsOptions& options);

  const std::vector<SourceSplit>& splits() const { return splits_; }
  // Reads a split through its index; null if there is none.
  const RandomAccessReader* source(size_t split) const {
    return sources_[split] ? &*sources_[split] : nullptr;
  }
  const std::vector<std::vector<RecordShard>>& shards() const { return shards_; }  // by split
  RecordPlace Find(size_t split, uint64_t item) const;
  const RecordShard& Shard(const RecordPlace& place) const {
    return shards_[place.split][place.shard];
  }

 private:
  // The index of a split, if it has one.
  struct SplitIndex {
    std::optional<Index> index;
    std::string folder;
  };

  std::optional<RandomAccessReader> OpenSource(const SplitIndex& known) const;
  // `number`: position of the shard in the index, if it is listed.
  void Open(RecordShard& shard, const SplitIndex& known, size_t number, const RecordFilter& filter,
            bool is_listed);
  void ReadThrough(RecordShard& shard, const RecordFilter& filter, bool unpack);

  std::vector<SourceSplit> splits_;
  std::vector<std::optional<RandomAccessReader>> sources_;  // by split
  std::vector<std::vector<RecordShard>> shards_;
  const bool in_order_;
  SpoolPool spools_;
};

// Reads records and checks their CRCs. One per reader; not thread-safe.
class RecordShardReader {
 public:
  // `shards` is not owned and must outlive the reader.
  explicit RecordShardReader(const RecordShards& shards) : shards_(shards) {}

  // The payload is valid until the next call. Throws Error: kCorrupt with the record's place, kIo.
  ByteView Read(const RecordPlace& place);

  // Asks for the bytes of a record that will be read soon.
  void Announce(const RecordPlace& place);

 private:
  ByteView ReadStretch(const RecordPlace& place, uint64_t id);

  const RecordShards& shards_;
  OpenFiles files_;
  ReadBuffer buffer_;
  std::map<size_t, RandomAccessReader> sources_;  // by split
  OwnedRecord record_;
};

}  // namespace recpack::pack

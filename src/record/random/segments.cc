#include "src/record/random/segments.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/compression/byte_source.h"

namespace recpack {
namespace {

constexpr size_t kKeptMaps = 64;
constexpr uint64_t kKeptBytes = uint64_t{16} << 20;  // of cached segments besides the last one used

// Moves the element to the front; returns false if there is none.
template <typename T, typename Is>
bool Recall(std::list<T>& kept, Is is) {
  const auto found = std::ranges::find_if(kept, is);
  if (found == kept.end()) return false;
  kept.splice(kept.begin(), kept, found);
  return true;
}

// Adds the record's ordinal to errors.
size_t ReadMore(ByteSource& source, std::span<uint8_t> out, const RecordLocation& location) {
  try {
    return source.Read(out);
  } catch (const Error& error) {
    throw error.At(
        {.path = error.place().path, .offset = error.place().offset, .ordinal = location.ordinal});
  }
}

}  // namespace

const Segments::Map& Segments::FindMap(uint32_t shard) {
  if (Recall(maps_, [&](const Map& map) { return map.shard == shard; })) return maps_.front();
  const ShardEntries entries = files_->index().Entries(shard);
  Map map{.shard = shard, .starts = {{0, 0, 0}}};
  auto point = entries.flush_points.begin();
  uint64_t offset = 0;
  for (size_t record = 0; record < entries.lengths.size(); ++record) {
    for (; point != entries.flush_points.end() && point->first_record <= record; ++point) {
      if (point->first_record != record) continue;
      if (map.starts.back().offset == offset) map.starts.pop_back();
      map.starts.push_back({offset, point->file_offset, offset});
    }
    map.starts.back().last_frame = offset;
    offset += entries.lengths[record] + kFrameBytes;
  }
  map.starts.push_back({offset, entries.file_bytes, offset});
  maps_.push_front(std::move(map));
  if (maps_.size() > kKeptMaps) maps_.pop_back();
  return maps_.front();
}

Segment Segments::Inflate(const OpenShard& shard, const RecordLocation& location,
                          const Map::Start& start, uint64_t end) const {
  const uint64_t size = end - start.offset;
  const Place place{.path = shard.path(), .offset = start.file_offset, .ordinal = location.ordinal};
  // The last record is not counted: RecordWriter flushes after a record longer than the limit.
  if (start.last_frame - start.offset > max_segment_bytes_) {
    throw Error(ErrorKind::kUnsupported,
                format("is compressed without flush points, {} bytes would have to be inflated for "
                       "one record",
                       size),
                {.path = shard.path()},
                "pack it again (recpack pack --from tfrecord), or read it in its own order");
  }
  const uint64_t room =
      (shard.summary().file_bytes - std::min(start.file_offset, shard.summary().file_bytes)) *
      kMostDeflated;
  if (size > room) throw Error(ErrorKind::kCorrupt, "is too short for what its index says", place);
  Segment segment{.shard = location.shard, .offset = start.offset, .size = size, .bytes = {}};
  segment.bytes = std::make_shared_for_overwrite<uint8_t[]>(size);
  const auto source = start.file_offset == 0
                          ? MakeByteSource(shard.file(), shard.summary().compression)
                          : MakeFlushPointSource(shard.file(), start.file_offset);
  size_t got = 0;
  while (got < size) {
    const size_t more = ReadMore(*source, {segment.bytes.get() + got, size - got}, location);
    if (more == 0) throw Error(ErrorKind::kCorrupt, "the compressed stream ends too early", place);
    got += more;
  }
  return segment;
}

const Segment& Segments::Find(const RecordLocation& location) {
  const auto holds = [&](const Segment& segment) {
    return segment.shard == location.shard && location.offset >= segment.offset &&
           location.offset - segment.offset < segment.size;
  };
  if (Recall(segments_, holds)) return segments_.front();
  const auto& starts = FindMap(location.shard).starts;
  const auto after = std::ranges::upper_bound(starts, location.offset, {}, &Map::Start::offset);
  if (after == starts.begin() || after == starts.end()) {
    throw Error(ErrorKind::kCorrupt, "the index contradicts itself", {.ordinal = location.ordinal},
                "rebuild it with `recpack index`");
  }
  const auto shard = files_->Open(location.shard);
  segments_.push_front(Inflate(*shard, location, *std::prev(after), after->offset));
  segment_bytes_ += segments_.front().size;
  while (segment_bytes_ > kKeptBytes && segments_.size() > 1) {
    segment_bytes_ -= segments_.back().size;
    segments_.pop_back();
  }
  return segments_.front();
}

}  // namespace recpack

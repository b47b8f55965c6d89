#include "src/record/segments.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/byte_source.h"

namespace recpack {
namespace {

constexpr size_t kKeptMaps = 64;
constexpr size_t kKeptSegments = 16;

// Moves the element to the front; false where there is none.
template <typename T, typename Is>
bool Recall(std::list<T>& kept, Is is) {
  const auto found = std::ranges::find_if(kept, is);
  if (found == kept.end()) return false;
  kept.splice(kept.begin(), kept, found);
  return true;
}

template <typename T>
void Remember(std::list<T>& kept, T element, size_t most) {
  kept.push_front(std::move(element));
  if (kept.size() > most) kept.pop_back();
}

}  // namespace

const Segments::Map& Segments::MapOf(uint32_t shard) {
  if (Recall(maps_, [&](const Map& map) { return map.shard == shard; })) return maps_.front();
  const ShardEntries entries = files_->index().Entries(shard);
  Map map{.shard = shard, .starts = {{0, 0}}};
  auto point = entries.flush_points.begin();
  uint64_t offset = 0;
  for (size_t record = 0; record < entries.lengths.size(); ++record) {
    for (; point != entries.flush_points.end() && point->first_record <= record; ++point) {
      if (point->first_record != record) continue;
      if (map.starts.back().offset == offset) map.starts.pop_back();
      map.starts.push_back({offset, point->file_offset});
    }
    offset += entries.lengths[record] + kFrameBytes;
  }
  map.starts.push_back({offset, entries.file_bytes});
  Remember(maps_, std::move(map), kKeptMaps);
  return maps_.front();
}

Segment Segments::Inflate(const OpenShard& shard, const RecordLocation& location,
                          const Map::Start& start, uint64_t end) const {
  const uint64_t size = end - start.offset;
  const Place place{.path = shard.path(), .offset = start.file_offset, .ordinal = location.ordinal};
  if (size > max_segment_bytes_) {
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
    const size_t more = source->Read({segment.bytes.get() + got, size - got});
    if (more == 0) throw Error(ErrorKind::kCorrupt, "the compressed stream ends too early", place);
    got += more;
  }
  return segment;
}

const Segment& Segments::Holding(const RecordLocation& location) {
  const auto holds = [&](const Segment& segment) {
    return segment.shard == location.shard && location.offset >= segment.offset &&
           location.offset - segment.offset < segment.size;
  };
  if (Recall(segments_, holds)) return segments_.front();
  const auto& starts = MapOf(location.shard).starts;
  const auto after = std::ranges::upper_bound(starts, location.offset, {}, &Map::Start::offset);
  if (after == starts.begin() || after == starts.end()) {
    throw Error(ErrorKind::kCorrupt, "the index contradicts itself", {.ordinal = location.ordinal},
                "make it anew with `recpack index`");
  }
  const auto shard = files_->Open(location.shard);
  Remember(segments_, Inflate(*shard, location, *std::prev(after), after->offset), kKeptSegments);
  return segments_.front();
}

}  // namespace recpack

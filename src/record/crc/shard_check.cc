#include "src/record/crc/shard_check.h"

#include <algorithm>
#include <functional>

#include "recpack/record/crc32c.h"

namespace recpack {
namespace {

template <typename T>
ByteView ToByteView(std::span<const T> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

uint32_t Finish(uint32_t crc, std::span<const uint32_t> crcs,
                std::span<const FlushPoint> flush_points, ByteView tail) {
  crc = ExtendCrc32c(crc, ToByteView(crcs));
  crc = ExtendCrc32c(crc, ToByteView(flush_points));
  crc = ExtendCrc32c(crc, tail);
  return crc == 0 ? 1 : crc;
}

}  // namespace

uint32_t ShardCheck(std::span<const uint32_t> lengths, std::span<const uint32_t> crcs,
                    std::span<const FlushPoint> flush_points, ByteView tail) {
  if (std::ranges::adjacent_find(lengths, std::ranges::not_equal_to()) == lengths.end()) {
    return ShardCheck(lengths.size(), lengths.empty() ? 0 : lengths.front(), crcs, flush_points,
                      tail);
  }
  return Finish(Crc32c(ToByteView(lengths)), crcs, flush_points, tail);
}

uint32_t ShardCheck(uint64_t records, uint32_t stride, std::span<const uint32_t> crcs,
                    std::span<const FlushPoint> flush_points, ByteView tail) {
  const uint64_t numbers[] = {records, stride};
  return Finish(Crc32c(ToByteView(std::span<const uint64_t>(numbers))), crcs, flush_points, tail);
}

ByteBuffer ReadTail(const ReadableFile& file, uint64_t size) {
  ByteBuffer tail(std::min<uint64_t>(size, kTailBytes));
  tail.resize(file.ReadAt(size - tail.size(), tail));
  return tail;
}

}  // namespace recpack

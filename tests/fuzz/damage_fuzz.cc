// Fuzzes shards, arbitrary and damaged ones: reads them to the end or an Error, with and without
// resynchronisation and entries; the results must agree.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/record/compression/byte_source.h"
#include "src/record/stream/flush_points.h"
#include "tests/record/memory_files.h"

namespace recpack {
namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Returns the records up to the end or the first Error (kCorrupt).
std::optional<Seen> TryReadAll(const ByteBuffer& bytes, const ReaderOptions& options) {
  try {
    return ReadAll(bytes, options);
  } catch (const Error& error) {
    Require(error.kind() == ErrorKind::kCorrupt, "damage is a corrupt error");
    Require(error.place().path == "shard", "an error names the path");
    Require(error.place().ordinal.has_value(), "an error names the ordinal");
    return std::nullopt;
  }
}

void RequireOrder(const Seen& seen) {
  for (size_t i = 1; i < seen.offsets.size(); ++i) {
    Require(seen.offsets[i - 1] < seen.offsets[i], "offsets rise");
    Require(seen.ordinals[i - 1] < seen.ordinals[i], "ordinals rise");
  }
  for (size_t i = 1; i < seen.damages.size(); ++i) {
    Require(seen.damages[i - 1].end <= seen.damages[i].offset, "damages do not overlap");
  }
  for (const Damage& damage : seen.damages) {
    Require(damage.offset <= damage.end, "damage does not end before it begins");
    Require(!damage.reason.empty(), "damage has a reason");
  }
}

// Checks that the record after each flush point found in a whole stream can be inflated alone.
std::vector<FlushPoint> CheckedFlushPoints(const ByteBuffer& bytes, const Seen& whole) {
  const MemoryReadable file(bytes);
  std::vector<uint32_t> lengths;
  for (const ByteBuffer& payload : whole.payloads) {
    lengths.push_back(static_cast<uint32_t>(payload.size()));
  }
  const auto stream = ReadFlushedStream(file, whole.compression, true);
  if (!stream) return {};
  Require(stream->frames.lengths == lengths, "a stream has the records that a reader finds in it");
  const auto& points = stream->flush_points;
  for (const FlushPoint& point : points) {
    Require(point.first_record <= lengths.size(), "a flush point lies at a record");
    if (point.first_record == lengths.size()) continue;
    const ByteBuffer& payload = whole.payloads[point.first_record];
    ByteBuffer frame(payload.size() + kFrameBytes);
    Require(MakeFlushPointSource(file, point.file_offset)->Read(frame) == frame.size() &&
                std::equal(payload.begin(), payload.end(), frame.begin() + kFrameHeaderBytes),
            "a flush point inflates to its record");
  }
  return points;
}

// Reads `bytes` in every way and compares the results.
void CheckFile(const ByteBuffer& bytes) {
  const std::optional<Seen> strict = TryReadAll(bytes, {});
  ReaderOptions going_on{.on_damage = ReaderOptions::OnDamage::kResynchronise};
  const Seen seen = ReadAll(bytes, going_on);
  RequireOrder(seen);
  Require(strict.has_value() == seen.damages.empty(), "strict reading fails on damage alone");
  if (strict) {
    Require(strict->payloads == seen.payloads, "a whole shard is read the same");
    CheckedFlushPoints(bytes, *strict);
  }

  going_on.buffer_bytes = 64;
  const Seen small_reads = ReadAll(bytes, going_on);
  Require(small_reads.payloads == seen.payloads && small_reads.offsets == seen.offsets &&
              small_reads.damages.size() == seen.damages.size(),
          "the size of the buffer changes nothing");
  TryReadAll(bytes, {.verify = false});
}

std::vector<ByteBuffer> AnyPayloads(FuzzedDataProvider& input) {
  std::vector<ByteBuffer> payloads(input.ConsumeIntegralInRange<size_t>(0, 12));
  for (ByteBuffer& payload : payloads) {
    const auto size = input.ConsumeIntegralInRange<size_t>(0, 300);
    payload = input.ConsumeBytes<uint8_t>(size);
    payload.resize(size, 0x5a);
  }
  return payloads;
}

// With entries and without compression, one changed byte loses exactly one record.
void CheckOneByte(const std::vector<ByteBuffer>& payloads, Shard shard, size_t at, uint8_t mask) {
  shard.bytes[at] ^= mask;
  const Seen seen =
      ReadAll(shard.bytes, {.on_damage = ReaderOptions::OnDamage::kResynchronise,
                            .entries = std::make_shared<ShardEntries>(shard.entries)});
  RequireOrder(seen);
  Require(seen.payloads.size() + 1 == payloads.size(), "one record is lost");
  Require(seen.damages.size() == 1 && seen.damages[0].lost == 1, "the loss is counted");
  for (size_t i = 0; i < seen.payloads.size(); ++i) {
    Require(seen.payloads[i] == payloads[seen.ordinals[i]], "ordinals are exact");
  }
}

void CheckDamagedShard(FuzzedDataProvider& input) {
  const auto compression = static_cast<Compression>(input.ConsumeIntegralInRange<int>(0, 2));
  const auto at = input.ConsumeIntegral<uint32_t>();
  const auto mask = input.ConsumeIntegralInRange<uint8_t>(1, 255);
  const bool cut = input.ConsumeBool();
  const std::vector<ByteBuffer> payloads = AnyPayloads(input);
  Shard shard = WriteShard(payloads, {.compression = compression, .flush_interval = 200});
  const Seen whole = ReadAll(shard.bytes);
  Require(whole.payloads == payloads, "what is written is read");
  Require(CheckedFlushPoints(shard.bytes, whole) == shard.entries.flush_points,
          "flush points are found again");
  if (shard.bytes.empty()) return;
  const size_t place = at % shard.bytes.size();
  // A changed byte at the start may make the file look compressed.
  if (!cut && compression == Compression::kNone && place >= 12) {
    CheckOneByte(payloads, shard, place, mask);
  }
  if (cut) {
    shard.bytes.resize(place);
  } else {
    shard.bytes[place] ^= mask;
  }
  CheckFile(shard.bytes);
  const Seen seen =
      ReadAll(shard.bytes, {.on_damage = ReaderOptions::OnDamage::kResynchronise,
                            .entries = std::make_shared<ShardEntries>(shard.entries)});
  RequireOrder(seen);
}

}  // namespace
}  // namespace recpack

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  if (input.ConsumeBool()) {
    recpack::CheckDamagedShard(input);
  } else {
    recpack::CheckFile(input.ConsumeRemainingBytes<uint8_t>());
  }
  return 0;
}

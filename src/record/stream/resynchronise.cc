#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/record/stream/flush_points.h"
#include "src/record/stream/reader_state.h"

namespace recpack {
namespace {

// Approximate bytes read to check one possible flush point.
constexpr uint64_t kProbeBytes = 4096;

}  // namespace

// Charges a search. Returns false once the budget is used up: a malicious file must not cause
// endless searches.
bool RecordReader::State::Charge(uint64_t bytes) {
  search_budget -= std::min(search_budget, bytes);
  return search_budget > 0;
}

void RecordReader::State::LoseRest(Damage& damage) {
  ended = true;
  if (entries_hold && ordinal <= options.entries->lengths.size()) {
    damage.lost = options.entries->lengths.size() - ordinal;
  }
}

// Without compression: skips to the next record of the entries with a valid header. Returns false
// if there is none, because the entries do not, or no longer, describe the file.
bool RecordReader::State::PassByEntries(Damage& damage) {
  const auto& lengths = options.entries->lengths;
  uint64_t offset = window.offset();
  for (uint64_t next = ordinal; next < lengths.size();) {
    offset += lengths[next++] + kFrameBytes;
    if (offset > most_bytes) break;
    uint8_t header[kFrameHeaderBytes];
    const bool at_end = next == lengths.size();
    if (at_end ? offset != most_bytes
               : file->ReadAt(offset, header) < sizeof header || !FrameHeaderHolds(header) ||
                     FrameLength(header) != lengths[next]) {
      continue;
    }
    damage.lost = next - ordinal;
    ordinal = next;
    window.Restart(MakeByteSourceAt(*file, offset), offset);
    return true;
  }
  return false;
}

// Skips a frame of this length if a valid header or the end follows it.
bool RecordReader::State::SkipFrame(uint64_t length) {
  const uint64_t frame = length + kFrameBytes;
  if (length > most_bytes - std::min(most_bytes, window.offset())) return false;
  if (window.Ensure(frame + kFrameHeaderBytes) ? !FrameHeaderHolds(window.data() + frame)
                                               : window.bytes().size() != frame) {
    return false;
  }
  window.Skip(frame);
  ++ordinal;
  return true;
}

// With compression: continues within the segment if the stream is intact, else at the next flush
// point.
bool RecordReader::State::PassStretchByEntries(Damage& damage) {
  const auto& lengths = options.entries->lengths;
  if (ordinal >= lengths.size() || !SkipFrame(lengths[ordinal])) return false;
  damage.lost = 1;
  return true;
}

void RecordReader::State::JumpToFlushPoint(Damage& damage, std::optional<uint64_t> broken_at) {
  const auto& points = options.entries->flush_points;
  const auto& lengths = options.entries->lengths;
  // If only the flush itself or the stream's header is damaged, the next record is still whole.
  const auto point = std::ranges::find_if(points, [&](const FlushPoint& at) {
    return at.first_record > ordinal ||
           (at.first_record == ordinal && broken_at && at.file_offset >= *broken_at);
  });
  if (point == points.end() || point->file_offset >= file->Size() ||
      point->first_record > lengths.size()) {
    return LoseRest(damage);
  }
  uint64_t offset = point->first_record * kFrameBytes;
  for (uint64_t i = 0; i < point->first_record; ++i) offset += lengths[i];
  damage.lost = point->first_record - ordinal;
  ordinal = point->first_record;
  window.Restart(MakeFlushPointSource(*file, point->file_offset), offset);
}

// Both CRCs must match, which happens by chance at one in 2^64 offsets.
void RecordReader::State::SearchFrame(Damage& damage) {
  if (window.Ensure(kFrameHeaderBytes) && FrameHeaderHolds(window.data()) &&
      SkipFrame(FrameLength(window.data()))) {
    damage.lost = 1;
    entries_hold = false;
    return;
  }
  while (window.Ensure(1)) {
    window.Skip(1);
    if (!window.Ensure(kFrameBytes)) continue;
    const uint64_t length = FrameLength(window.data());
    // The length alone rules out nearly every offset; only then compute a CRC.
    if (length > most_bytes - std::min(most_bytes, window.offset())) continue;
    ByteView ignored;
    std::string reason;
    if (LookAtFrame(window, FrameCrcs::kAll, most_bytes, ignored, reason) == FrameState::kWhole) {
      ++ordinal;
      entries_hold = false;
      return;
    }
    if (FrameHeaderHolds(window.data()) && !Charge(length)) break;
  }
  LoseRest(damage);
}

bool RecordReader::State::TryFlushPoint(uint64_t at) {
  Window probe(MakeFlushPointSource(*file, at, kProbeBytes), kProbeBytes);
  ByteView ignored;
  std::string reason;
  try {
    if (LookAtFrame(probe, FrameCrcs::kAll, most_bytes, ignored, reason) != FrameState::kWhole)
      return false;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCorrupt) throw;
    return false;
  }
  // The offset is an estimate: the uncompressed size of the lost bytes is unknown.
  window.Restart(MakeFlushPointSource(*file, at), window.offset());
  ++ordinal;
  return true;
}

void RecordReader::State::SearchFlushPoint(uint64_t from) {
  if (TryFlushPoint(from)) return;  // the mark itself was damaged
  ByteBuffer chunk(size_t{1} << 16);
  for (;;) {
    const size_t got = file->ReadAt(from, chunk);
    const auto end = chunk.begin() + static_cast<ptrdiff_t>(got);
    for (auto found = chunk.begin();; ++found) {
      found = std::search(found, end, std::begin(kFlushMark), std::end(kFlushMark));
      if (found == end) break;
      if (TryFlushPoint(from + static_cast<uint64_t>(found - chunk.begin()) + sizeof kFlushMark)) {
        return;
      }
      if (!Charge(kProbeBytes)) break;
    }
    if (got < chunk.size() || search_budget == 0) break;
    from += got - (sizeof kFlushMark - 1);
  }
  ended = true;
}

void RecordReader::State::Pass(Damage& damage, std::optional<uint64_t> broken_at) {
  const bool plain = compression == Compression::kNone;
  if (!broken_at) {
    try {
      if (entries_hold && (plain ? PassByEntries(damage) : PassStretchByEntries(damage))) return;
      if (plain || !entries_hold) return SearchFrame(damage);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      damage.reason = error.reason();
      broken_at = error.place().offset;
    }
  }
  if (entries_hold) return JumpToFlushPoint(damage, broken_at);
  SearchFlushPoint(broken_at.value_or(0));
}

void RecordReader::State::Resynchronise(std::string reason, std::optional<uint64_t> broken_at) {
  Damage damage{.offset = window.offset(),
                .end = 0,
                .ordinal = ordinal,
                .lost = {},
                .reason = std::move(reason)};
  Pass(damage, broken_at);
  damage.end = ended && compression == Compression::kNone ? most_bytes : window.offset();
  damages.push_back(std::move(damage));
}

}  // namespace recpack

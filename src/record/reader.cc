#include "recpack/record/reader.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/window.h"

namespace recpack {
namespace {

constexpr char kAdvice[] = "recpack verify lists all damage, recpack repair saves what is whole";

}  // namespace

struct RecordReader::State {
  State(std::unique_ptr<ReadableFile> opened, ReaderOptions given)
      : file(std::move(opened)),
        options(std::move(given)),
        compression(DetectCompression(*file)),
        window(MakeByteSource(*file, compression), options.buffer_bytes) {
    if (compression == Compression::kNone) stream_size = file->Size();
  }

  std::unique_ptr<ReadableFile> file;
  ReaderOptions options;
  Compression compression;
  std::optional<uint64_t> stream_size;  // uncompressed; empty: not known
  Window window;
  uint64_t ordinal = 0;
  size_t to_skip = 0;  // frame of the record handed out last
  bool ended = false;
  std::vector<Damage> damages;

  enum class Frame { kWhole, kEnd, kDamaged };
  // Looks at the frame that the window begins with; says what is wrong with it.
  Frame Look(Record& record, std::string& reason);
  bool FitsFile(uint64_t length) const;
  void Resynchronise(std::string reason);
  bool JumpByEntries(Damage& damage);
  void SearchFrame(Damage& damage);
  bool JumpToFlushPoint(Damage& damage);
};

bool RecordReader::State::FitsFile(uint64_t length) const {
  if (!stream_size) return length <= kMaxPayloadBytes;
  const uint64_t room = *stream_size - std::min(*stream_size, window.offset());
  return room >= kFrameBytes && length <= room - kFrameBytes;
}

RecordReader::State::Frame RecordReader::State::Look(Record& record, std::string& reason) {
  if (!window.Ensure(kFrameHeaderBytes)) {
    if (window.bytes().empty()) return Frame::kEnd;
    reason = format("the file ends within the header of a record, {} bytes into it",
                    window.bytes().size());
    return Frame::kDamaged;
  }
  const uint64_t length = FrameLength(window.data());
  if (options.verify && !FrameHeaderHolds(window.data())) {
    reason = "the CRC of the length does not match";
    return Frame::kDamaged;
  }
  if (!FitsFile(length) || !window.Ensure(length + kFrameBytes)) {
    reason = format("the file ends within a record of {} bytes", length);
    return Frame::kDamaged;
  }
  record.payload = {window.data() + kFrameHeaderBytes, length};
  if (options.verify && !FramePayloadHolds(record.payload)) {
    reason = "the CRC of the payload does not match";
    return Frame::kDamaged;
  }
  return Frame::kWhole;
}

// True where the entries say where the next record begins, and the window was moved there.
bool RecordReader::State::JumpByEntries(Damage& damage) {
  const auto& entries = options.entries;
  if (!entries || stream_size == std::nullopt || ordinal >= entries->lengths.size()) return false;
  damage.lost = 1;
  const uint64_t frame = uint64_t{entries->lengths[ordinal]} + kFrameBytes;
  if (frame > *stream_size - window.offset()) {
    damage.lost = entries->lengths.size() - ordinal;
    ended = true;
    return true;
  }
  window.Ensure(frame);
  window.Skip(frame);
  ++ordinal;
  return true;
}

// Tries every offset: both CRCs must hold, which by chance they do once in 2^64.
void RecordReader::State::SearchFrame(Damage& damage) {
  const bool length_holds = window.Ensure(kFrameHeaderBytes) && FrameHeaderHolds(window.data());
  const uint64_t length = length_holds ? FrameLength(window.data()) : 0;
  if (length_holds && FitsFile(length) && window.Ensure(length + kFrameBytes)) {
    damage.lost = 1;  // the length is good: the next record begins behind this one
    window.Skip(length + kFrameBytes);
    ++ordinal;
    return;
  }
  ++ordinal;
  while (window.Ensure(1)) {
    window.Skip(1);
    Record ignored;
    std::string reason;
    if (Look(ignored, reason) == Frame::kWhole) return;
  }
  ended = true;
}

// The next place where a compressed shard of ours can be inflated from.
bool RecordReader::State::JumpToFlushPoint(Damage& damage) {
  if (!options.entries) return false;
  for (const FlushPoint& point : options.entries->flush_points) {
    if (point.first_record <= ordinal) continue;
    uint64_t offset = 0;
    for (uint64_t i = 0; i < point.first_record; ++i) {
      offset += options.entries->lengths[i] + kFrameBytes;
    }
    if (point.file_offset >= file->Size()) return false;
    damage.lost = point.first_record - ordinal;
    ordinal = point.first_record;
    window.Restart(MakeFlushPointSource(*file, point.file_offset), offset);
    return true;
  }
  return false;
}

void RecordReader::State::Resynchronise(std::string reason) {
  Damage damage{.offset = window.offset(),
                .end = 0,
                .ordinal = ordinal,
                .lost = {},
                .reason = std::move(reason)};
  try {
    if (!JumpByEntries(damage)) SearchFrame(damage);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCorrupt) throw;
    damage.reason = error.reason();
    if (!JumpToFlushPoint(damage)) ended = true;
  }
  damage.end = ended && stream_size ? *stream_size : window.offset();
  damages.push_back(std::move(damage));
}

RecordReader::RecordReader(std::unique_ptr<ReadableFile> file, ReaderOptions options)
    : state_(std::make_unique<State>(std::move(file), std::move(options))) {}

RecordReader::~RecordReader() = default;
RecordReader::RecordReader(RecordReader&&) noexcept = default;

bool RecordReader::Next(Record& record) {
  State& state = *state_;
  state.window.Skip(std::exchange(state.to_skip, 0));
  while (!state.ended) {
    std::string reason;
    State::Frame frame = State::Frame::kDamaged;
    const bool go_on = state.options.on_damage == ReaderOptions::OnDamage::kResynchronise;
    try {
      frame = state.Look(record, reason);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      if (!go_on) {
        throw Error(
            error.kind(), error.reason(),
            {.path = state.file->path(), .offset = error.place().offset, .ordinal = state.ordinal},
            kAdvice);
      }
      reason = error.reason();
    }
    if (frame == State::Frame::kWhole) {
      record.offset = state.window.offset();
      record.ordinal = state.ordinal++;
      state.to_skip = record.payload.size() + kFrameBytes;
      return true;
    }
    if (frame == State::Frame::kEnd) break;
    if (!go_on) {
      throw Error(
          ErrorKind::kCorrupt, reason,
          {.path = state.file->path(), .offset = state.window.offset(), .ordinal = state.ordinal},
          kAdvice);
    }
    state.Resynchronise(std::move(reason));
  }
  state.ended = true;
  record = {};
  return false;
}

Compression RecordReader::compression() const noexcept { return state_->compression; }

const std::vector<Damage>& RecordReader::damages() const noexcept { return state_->damages; }

}  // namespace recpack

#include "recpack/record/reader.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/stream/reader_state.h"

namespace recpack {
namespace {

Compression FindCompression(const ReadableFile& file, const ReaderOptions& options) {
  if (options.entries) return options.entries->compression;
  // A piece may begin with a damaged header that looks like a compressed file.
  if (options.piece && options.piece->offset > 0) return Compression::kNone;
  return DetectCompression(file);
}

uint64_t MostBytes(const ReadableFile& file, Compression compression,
                   const ReaderOptions& options) {
  if (compression != Compression::kNone) return file.Size() * kMostDeflated;
  return options.piece ? std::min(file.Size(), options.piece->end) : file.Size();
}

std::unique_ptr<ByteSource> OpenSource(const ReadableFile& file, Compression compression,
                                       const ReaderOptions& options) {
  if (!options.piece) return MakeByteSource(file, compression);
  if (compression != Compression::kNone) {
    throw Error(ErrorKind::kInvalidArgument, "a compressed shard cannot be read in pieces",
                {.path = file.path()}, "read it as a whole");
  }
  return MakeByteSourceAt(file, options.piece->offset, options.piece->end);
}

}  // namespace

RecordReader::State::State(std::unique_ptr<ReadableFile> opened, ReaderOptions given)
    : file(std::move(opened)),
      options(std::move(given)),
      compression(FindCompression(*file, options)),
      most_bytes(MostBytes(*file, compression, options)),
      window(OpenSource(*file, compression, options),
             std::min<uint64_t>(options.buffer_bytes, most_bytes),
             options.piece ? options.piece->offset : 0),
      ordinal(options.piece ? options.piece->first_record : 0),
      entries_hold(options.entries != nullptr && !options.piece),
      search_budget(16 * file->Size() + (uint64_t{64} << 20)) {}

void RecordReader::State::Fail(const std::string& reason, uint64_t offset) const {
  throw Error(ErrorKind::kCorrupt, reason,
              {.path = file->path(), .offset = offset, .ordinal = ordinal}, kDamageAdvice);
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
    auto frame = FrameState::kDamaged;
    std::optional<uint64_t> broken_at;
    try {
      frame = state.Look(record, reason);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      reason = error.reason();
      broken_at = error.place().offset;
    }
    if (frame == FrameState::kWhole) {
      record.offset = state.window.offset();
      record.ordinal = state.ordinal;
      state.to_skip = record.payload.size() + kFrameBytes;
      if (state.entries_hold) {
        const auto& lengths = state.options.entries->lengths;
        state.entries_hold =
            state.ordinal < lengths.size() && lengths[state.ordinal] == record.payload.size();
      }
      ++state.ordinal;
      return true;
    }
    if (frame == FrameState::kEnd) break;
    if (state.options.on_damage == ReaderOptions::OnDamage::kFail) {
      state.Fail(reason, broken_at.value_or(state.window.offset()));
    }
    state.Resynchronise(std::move(reason), broken_at);
  }
  state.ended = true;
  record = {};
  return false;
}

Compression RecordReader::compression() const noexcept { return state_->compression; }

const std::vector<Damage>& RecordReader::damages() const noexcept { return state_->damages; }

}  // namespace recpack

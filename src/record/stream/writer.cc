#include "recpack/record/writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/compression/byte_sink.h"
#include "src/record/crc/shard_check.h"

namespace recpack {

struct RecordWriter::State {
  std::unique_ptr<ByteSink> sink;
  WriterOptions options;
  std::string path;
  ShardEntries entries;
  ByteBuffer buffer;   // frames not yet given to the sink
  size_t used = 0;     // bytes of complete frames in `buffer`
  size_t payload = 0;  // payload size of the current record, whose frame starts at `used`
  bool begun = false;
  uint64_t since_flush = 0;
  std::optional<Sha256Digest> digest;

  void Drain() {
    sink->Write(ByteView(buffer).first(used));
    used = 0;
  }

  void AddFlushPoint() {
    Drain();
    entries.flush_points.push_back(
        {.file_offset = sink->Flush(), .first_record = entries.lengths.size()});
    since_flush = 0;
  }

  // Called when the frame of the current record is complete.
  void AddFrame() {
    used += payload + kFrameBytes;
    begun = false;
    entries.lengths.push_back(static_cast<uint32_t>(payload));
    entries.crcs.push_back(FrameCrc(buffer.data() + used - kFrameFooterBytes));
    if (options.compression == Compression::kNone) return;
    since_flush += payload + kFrameBytes;
    if (since_flush >= options.flush_interval) AddFlushPoint();
  }
};

RecordWriter::RecordWriter(std::unique_ptr<WritableFile> file, WriterOptions options)
    : state_(std::make_unique<State>()) {
  state_->path = file->path();
  state_->options = options;
  state_->entries.compression = options.compression;
  state_->buffer.resize(std::max<size_t>(options.buffer_bytes, 4096));
  state_->sink = MakeByteSink(std::move(file), options);
  // The first flush, after the stream's header, marks streams of this writer.
  if (options.compression != Compression::kNone) state_->AddFlushPoint();
}

RecordWriter::~RecordWriter() = default;
RecordWriter::RecordWriter(RecordWriter&&) noexcept = default;

std::span<uint8_t> RecordWriter::Begin(size_t size) {
  State& state = *state_;
  if (size > kMaxPayloadBytes) {
    throw Error(
        ErrorKind::kUnsupported,
        format("a record of {} bytes is longer than 4 GiB, the most an index can hold", size),
        {.path = state.path, .ordinal = state.entries.lengths.size()}, "split it up");
  }
  const size_t frame = size + kFrameBytes;
  if (state.used + frame > state.buffer.size()) state.Drain();
  if (frame > state.buffer.size()) state.buffer.resize(frame);
  state.payload = size;
  state.begun = true;
  StoreFrameHeader(state.buffer.data() + state.used, size);
  return std::span(state.buffer).subspan(state.used + kFrameHeaderBytes, size);
}

void RecordWriter::End() {
  State& state = *state_;
  if (!state.begun) throw Error(ErrorKind::kInvalidArgument, "End() without a Begin()");
  uint8_t* payload = state.buffer.data() + state.used + kFrameHeaderBytes;
  StoreFrameFooter(payload + state.payload, {payload, state.payload});
  state.AddFrame();
}

void RecordWriter::Write(ByteView payload) {
  const std::span<uint8_t> room = Begin(payload.size());
  std::ranges::copy(payload, room.begin());
  End();
}

void RecordWriter::WriteFrame(ByteView frame) {
  Begin(frame.size() - kFrameBytes);
  std::ranges::copy(frame, state_->buffer.data() + state_->used);
  state_->AddFrame();
}

void RecordWriter::Finish(bool sync) {
  State& state = *state_;
  state.Drain();
  state.entries.file_bytes = state.sink->Finish(sync);
  state.entries.check = ShardCheck(state.entries.lengths, state.entries.crcs,
                                   state.entries.flush_points, state.sink->tail());
  state.digest = state.sink->digest();
  if (const auto slash = state.path.rfind('/'); slash != std::string::npos) {
    state.entries.name = state.path.substr(slash + 1);
  } else {
    state.entries.name = state.path;
  }
}

const ShardEntries& RecordWriter::entries() const { return state_->entries; }

std::optional<Sha256Digest> RecordWriter::digest() const { return state_->digest; }

}  // namespace recpack

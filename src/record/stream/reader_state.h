// What a RecordReader holds, and its ways past damage (docs/format/tfrecord.md, "Damage").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/record/reader.h"
#include "src/record/stream/frame_look.h"
#include "src/record/stream/window.h"

namespace recpack {

struct RecordReader::State {
  State(std::unique_ptr<ReadableFile> opened, ReaderOptions given);

  FrameState Look(Record& record, std::string& reason) {
    const FrameCrcs crcs = options.verify ? FrameCrcs::kAll : FrameCrcs::kNone;
    return LookAtFrame(window, crcs, most_bytes, record.payload, reason);
  }

  // Moves behind the damage at the window's start and notes it.
  void Resynchronise(std::string reason, std::optional<uint64_t> broken_at);

  [[noreturn]] void Fail(const std::string& reason, uint64_t offset) const;

  std::unique_ptr<ReadableFile> file;
  ReaderOptions options;
  Compression compression;
  uint64_t most_bytes;  // that the uncompressed stream can have; exact without compression
  Window window;
  uint64_t ordinal;
  size_t to_skip = 0;  // frame of the record handed out last
  bool ended = false;
  bool entries_hold;       // what was read so far is what the entries say
  uint64_t search_budget;  // bytes that searches may still check in vain
  std::vector<Damage> damages;

 private:
  bool PassByEntries(Damage& damage);
  bool PassStretchByEntries(Damage& damage);
  bool SkipFrame(uint64_t length);
  void SearchFrame(Damage& damage);
  void SearchFlushPoint(uint64_t from);
  bool TryFlushPoint(uint64_t at);
  void JumpToFlushPoint(Damage& damage, std::optional<uint64_t> broken_at);
  void Pass(Damage& damage, std::optional<uint64_t> broken_at);
  void LoseRest(Damage& damage);
  bool Charge(uint64_t bytes);
};

}  // namespace recpack

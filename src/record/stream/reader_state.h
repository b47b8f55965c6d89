// Internal state of a RecordReader, with resynchronisation after damage (docs/format/tfrecord.md,
// "Damage").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/record/reader.h"
#include "src/record/stream/frames.h"
#include "src/record/stream/window.h"

namespace recpack {

struct RecordReader::State {
  State(std::unique_ptr<ReadableFile> opened, ReaderOptions given);

  FrameState Look(Record& record, std::string& reason) {
    const FrameCrcs crcs = options.verify ? FrameCrcs::kAll : FrameCrcs::kNone;
    return LookAtFrame(window, crcs, most_bytes, record.payload, reason);
  }

  // Skips the damage at the start of the window and adds it to `damages`.
  void Resynchronise(std::string reason, std::optional<uint64_t> broken_at);

  [[noreturn]] void Fail(const std::string& reason, uint64_t offset) const;

  std::unique_ptr<ReadableFile> file;
  ReaderOptions options;
  Compression compression;
  uint64_t most_bytes;  // upper limit of the uncompressed size; exact without compression
  Window window;
  uint64_t ordinal;
  size_t to_skip = 0;  // frame bytes of the record returned last
  bool ended = false;
  bool entries_hold;       // all records so far match the entries
  uint64_t search_budget;  // bytes that unsuccessful searches may still check
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

// Where a worker's time goes, at the price of a few clock reads a chunk of samples.
#pragma once

#include <array>
#include <cstdint>

#include "recpack/base/clock.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {

// Switches of the calling thread that it made itself, by waiting.
uint64_t VoluntarySwitches() noexcept;

// One worker thread. Samples that take long are all timed; of short ones a part, and the chunk's
// exact time is shared out among the stages by what these took.
class StageClock {
 public:
  struct Sources {
    uint64_t (*now)() noexcept = MonotonicNow;
    uint64_t (*switches)() noexcept = VoluntarySwitches;
  };

  explicit StageClock(WorkerBlock& block) : StageClock(block, Sources{}) {}
  StageClock(WorkerBlock& block, Sources sources);

  // A worker goes round: (waits for room), BeginChunk, (plans), BeginSamples, (BeginSample,
  // Enter..., EndSample)*, EndChunk. A sample that failed has no end.
  void BeginChunk() noexcept;
  void BeginSamples() noexcept;
  void BeginSample(uint64_t view, uint64_t record) noexcept {
    block_.view.store(view, std::memory_order_relaxed);
    block_.record.store(record, std::memory_order_relaxed);
    if (--until_timed_ == 0) Time();
    Enter(Stage::kRead);
  }
  // The next stage of the sample, with the bytes that it works on.
  void Enter(Stage stage, uint64_t bytes = 0) noexcept {
    Resume(stage);
    ++counts_[static_cast<size_t>(stage)];
    AddBytes(stage, bytes);
  }
  // Back to a stage that the sample was in before: not counted again.
  void Resume(Stage stage) noexcept {
    if (timed_) Close();
    SetStage(stage);
  }
  void AddBytes(Stage stage, uint64_t bytes) noexcept {
    bytes_[static_cast<size_t>(stage)] += bytes;
  }
  void AddPicture(const PictureStats& picture) noexcept {
    pictures_.pixels += picture.pixels;
    pictures_.made += picture.made;
    pictures_.coded_bytes += picture.coded_bytes;
  }
  void EndSample() noexcept {
    if (timed_) EndTimed();
  }
  void EndChunk() noexcept;
  // Behind a chunk: the worker is busy with its whole batch, kBatch.
  void BeginBatch() noexcept { SetStage(Stage::kBatch); }
  void EndBatch() noexcept;

 private:
  using Times = std::array<uint64_t, kStages>;

  void SetStage(Stage stage) noexcept {
    stage_ = stage;
    block_.stage.store(static_cast<uint64_t>(stage), std::memory_order_relaxed);
  }
  void Time() noexcept;
  void Close() noexcept;
  void EndTimed() noexcept;
  void ShareOut(uint64_t span) noexcept;
  void Publish(uint64_t now) noexcept;

  WorkerBlock& block_;
  const Sources sources_;
  Stage stage_ = Stage::kRoom;  // the block's, too
  bool timed_ = false;
  uint32_t period_ = 1;  // one in so many samples is timed
  uint32_t until_timed_ = 1;
  uint64_t mark_ = 0;   // end of what is accounted for in the timed sample
  uint64_t published_;  // end of what is accounted for in times_
  uint64_t chunk_begun_ = 0;
  uint64_t chunk_first_ = 0;  // samples before the chunk
  uint64_t switches_ = 0;
  Times sample_ = {};  // of the timed sample
  Times recent_ = {};  // of timed samples, older ones forgotten by and by
  Times times_ = {};
  Times counts_ = {};
  Times bytes_ = {};
  PictureStats pictures_;
};

}  // namespace recpack

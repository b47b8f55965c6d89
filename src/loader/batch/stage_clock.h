// Measures a worker's time per stage with a few clock reads per chunk of samples.
#pragma once

#include <array>
#include <cstdint>

#include "recpack/base/clock.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {

// Number of voluntary context switches of the calling thread.
uint64_t VoluntarySwitches() noexcept;

// Used by one worker thread. All slow samples are timed; of fast ones only some, and the exact time
// of the chunk is distributed among the stages in proportion.
class StageClock {
 public:
  struct Sources {
    uint64_t (*now)() noexcept = MonotonicNow;
    uint64_t (*switches)() noexcept = VoluntarySwitches;
  };

  explicit StageClock(WorkerBlock& block) : StageClock(block, Sources{}) {}
  StageClock(WorkerBlock& block, Sources sources);

  // Call sequence: (wait for room), BeginChunk, (plan), BeginSamples, (BeginSample, Enter...,
  // EndSample)*, EndChunk. EndSample is not called for a failed sample.
  void BeginChunk() noexcept;
  void BeginSamples() noexcept;
  void BeginSample(uint64_t view, uint64_t record) noexcept {
    block_.view.store(view, std::memory_order_relaxed);
    block_.record.store(record, std::memory_order_relaxed);
    if (--until_timed_ == 0) Time();
    Enter(Stage::kRead);
  }
  // Enters the next stage of the sample, which processes `bytes` bytes.
  void Enter(Stage stage, uint64_t bytes = 0) noexcept {
    Resume(stage);
    ++counts_[static_cast<size_t>(stage)];
    AddBytes(stage, bytes);
  }
  // Returns to an earlier stage of the sample, without counting it again.
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
  // After a chunk: enters kBatch, for the whole batch.
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
  Stage stage_ = Stage::kRoom;  // also in the block
  bool timed_ = false;
  uint32_t period_ = 1;  // one of `period_` samples is timed
  uint32_t until_timed_ = 1;
  uint64_t mark_ = 0;   // end of the accounted time in the timed sample
  uint64_t published_;  // end of the time accounted for in times_
  uint64_t chunk_begun_ = 0;
  uint64_t chunk_first_ = 0;  // samples before the chunk
  uint64_t switches_ = 0;
  Times sample_ = {};  // of the timed sample
  Times recent_ = {};  // of timed samples, decaying
  Times times_ = {};
  Times counts_ = {};
  Times bytes_ = {};
  PictureStats pictures_;
};

}  // namespace recpack

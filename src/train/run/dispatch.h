// Steps of a tower, whose sums the host reads once for several of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/train/ops/step_events.h"
#include "src/train/run/tower.h"

namespace recpack::train {

struct StepResult {
  uint64_t step = 0;  // how many were made before it
  std::string token;  // of its batch
  LossSums sums;
  uint64_t later = 0;  // steps that were enqueued behind it
};

// Used by the tower's thread. Of a device with a stream, a dispatch is read when the next one is
// enqueued, so that the device does not wait for the host in between.
class Dispatch {
 public:
  // Hears of every step, in order. What it throws is thrown by the call that it was told in.
  using Take = std::function<void(const StepResult& result)>;

  // `index`: of the tower, for who watches. `steps`: of a dispatch, at least 1.
  Dispatch(Tower& tower, size_t index, size_t steps, Take take);

  // Enqueues a step, or keeps it until there are as many as the strategy takes at once: batches
  // stay for that many calls, or until Finish().
  void Step(DeviceBatch& batch, const UpdateStep& step);
  // Waits until all steps were made and told of. The next one begins a dispatch.
  void Finish();

 private:
  struct Part {
    std::unique_ptr<Readback> sums;
    std::vector<StepResult> steps;  // without sums
  };
  void Give(size_t at_once);
  void Read(Part& part);

  Tower& tower_;
  const StepEvents events_;
  const size_t steps_, at_once_;
  const Take take_;
  const bool late_;
  const bool host_;  // who makes steps is busy for devices that tell of their work themselves
  std::array<Part, 2> parts_;  // the one that is filled, and the one before
  size_t filled_ = 0;
  std::vector<Tower::Step> waiting_;  // the last ones of the part that is filled
  uint64_t last_ = 0;                 // step that was enqueued
};

}  // namespace recpack::train

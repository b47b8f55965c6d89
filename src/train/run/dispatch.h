// Runs a tower's steps in groups; the host reads the losses of a group at once.
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
  uint64_t step = 0;  // number of steps before it
  std::string token;  // of its batch
  LossSums sums;
  uint64_t later = 0;  // number of steps enqueued after it
};

// Used on the tower's thread. On a device with a stream, the results of a dispatch are read after
// the next one is enqueued, so the device does not wait for the host in between.
class Dispatch {
 public:
  // Called for every step, in order. Its exceptions propagate from the call that invoked it.
  using Take = std::function<void(const StepResult& result)>;

  // `index`: of the tower, for event logging. `steps`: per dispatch, at least 1.
  Dispatch(Tower& tower, size_t index, size_t steps, Take take);

  // Enqueues a step, or holds it until there are as many as the strategy takes at once. Batches
  // must stay valid for that many calls, or until Finish().
  void Step(DeviceBatch& batch, const UpdateStep& step);
  // Waits until all steps are done and reported. The next step begins a new dispatch.
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
  const bool host_;  // the device reports its own work, so this thread's time counts as host work
  std::array<Part, 2> parts_;  // the one being filled, and the previous one
  size_t filled_ = 0;
  std::vector<Tower::Step> waiting_;  // the last steps of the part being filled
  uint64_t last_ = 0;                 // last step enqueued
};

}  // namespace recpack::train

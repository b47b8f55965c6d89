// A step that a device is told once for each place of its batch, and then repeats.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "recpack/device/batch.h"
#include "recpack/train/model.h"

namespace recpack {

// Used by the thread of its Ops, not after it.
class RepeatedStep {
 public:
  // As Ops::Capture() takes it, of the arrays that it is called with.
  using Step = std::function<void(const BatchArrays& batch)>;
  // Hears once why the step cannot be captured; it is then enqueued each time.
  using Refused = std::function<void(const std::string& reason)>;

  RepeatedStep(Ops& ops, Step step, Refused refused)
      : ops_(ops), step_(std::move(step)), refused_(std::move(refused)) {}

  // Enqueues the step on a batch, which is there for the device's stream.
  void Do(const DeviceBatch& batch);

 private:
  using Places = std::vector<const void*>;  // of the batch's arrays

  CapturedWork* Captured(const DeviceBatch& batch);

  Ops& ops_;
  const Step step_;
  const Refused refused_;
  std::map<Places, std::unique_ptr<CapturedWork>> captured_;
  bool first_ = true, plain_ = false;
};

}  // namespace recpack

#include "src/train/repeated_step.h"

#include <utility>

#include "recpack/base/error.h"
#include "src/train/batch_places.h"

namespace recpack {
namespace {

// A feeder has fewer on a device: as many as its depth.
constexpr size_t kMostPlaces = 64;

}  // namespace

void RepeatedStep::Do(const DeviceBatch& batch) {
  // The first one brings what operations take when they are first used: code, memory of libraries.
  CapturedWork* const work = std::exchange(first_, false) ? nullptr : Captured(batch);
  if (work) return work->Replay();
  step_(BatchPlaces(batch));
}

CapturedWork* RepeatedStep::Captured(const DeviceBatch& batch) {
  if (plain_) return nullptr;
  const auto arrays = std::make_shared<const BatchPlaces>(batch);
  const auto found = captured_.find(arrays->all());
  if (found != captured_.end()) return found->second.get();
  if (captured_.size() == kMostPlaces) captured_.clear();
  try {
    auto& work = captured_[arrays->all()];
    work = ops_.Capture([this, arrays] { step_(*arrays); });
    return work.get();
  } catch (const Error& error) {
    captured_.clear();
    if (error.kind() != ErrorKind::kUnsupported) throw;
    plain_ = true;
    refused_(error.what());
    return nullptr;
  }
}

}  // namespace recpack

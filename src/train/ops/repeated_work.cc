#include "src/train/ops/repeated_work.h"

#include <algorithm>

#include "recpack/base/error.h"

namespace recpack::train {
void RepeatedWork::Do(const Places& places, const std::function<void()>& work) {
  // The first call lets operations allocate what they need once: code, library memory.
  CapturedWork* const captured = std::exchange(first_, false) ? nullptr : Captured(places, work);
  captured ? captured->Replay() : work();
}

CapturedWork* RepeatedWork::Captured(const Places& places, const std::function<void()>& work) {
  if (plain_) return nullptr;
  const auto found = std::find_if(captured_.begin(), captured_.end(),
                                  [&](const Known& one) { return one.places == places; });
  if (found != captured_.end()) {
    captured_.splice(captured_.begin(), captured_, found);
    return found->work.get();
  }
  if (captured_.size() == most_) captured_.pop_back();
  try {
    captured_.push_front({places, ops_.Capture(work)});
    return captured_.front().work.get();
  } catch (const Error& error) {
    captured_.clear();
    if (error.kind() != ErrorKind::kUnsupported) throw;
    plain_ = true;
    if (refused_) refused_(error.what());
    return nullptr;
  }
}

}  // namespace recpack::train

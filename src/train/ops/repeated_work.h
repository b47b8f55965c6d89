// Work that a device is told once for each of its places, and then repeats.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/ops/ops.h"

namespace recpack::train {

// Used by the thread of its Ops, not after it.
class RepeatedWork {
 public:
  // What is other from one capture to the next: addresses of the arrays that the work reads.
  using Places = std::vector<const void*>;
  // Hears once why the work cannot be captured; it is then enqueued each time. May be empty.
  using Refused = std::function<void(const std::string& reason)>;

  // `most`: places that it knows at a time. Of those beyond, the ones used longest ago are
  // forgotten.
  explicit RepeatedWork(Ops& ops, size_t most = 1, Refused refused = {})
      : ops_(ops), most_(most), refused_(std::move(refused)) {}

  // Enqueues `work`, which Ops::Capture() takes: the first of all as it is, then what was captured
  // of the same places.
  void Do(const Places& places, const std::function<void()>& work);

 private:
  CapturedWork* Captured(const Places& places, const std::function<void()>& work);

  struct Known {
    Places places;
    std::unique_ptr<CapturedWork> work;
  };

  Ops& ops_;
  const size_t most_;
  const Refused refused_;
  std::list<Known> captured_;  // the one used last is first
  bool first_ = true, plain_ = false;
};

}  // namespace recpack::train

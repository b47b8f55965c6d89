// Captures a device's work once per set of addresses, and replays it afterwards.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/ops/ops.h"

namespace recpack::train {

// Used on the thread of its Ops; must not outlive the Ops.
class RepeatedWork {
 public:
  // The part of the work that differs between captures: addresses of the arrays that it reads.
  using Places = std::vector<const void*>;
  // Called once with the reason if the work cannot be captured; it is then enqueued each time. May
  // be empty.
  using Refused = std::function<void(const std::string& reason)>;

  // `most`: number of captures kept; the least recently used one is dropped.
  explicit RepeatedWork(Ops& ops, size_t most = 1, Refused refused = {})
      : ops_(ops), most_(most), refused_(std::move(refused)) {}

  // Enqueues `work`, which must suit Ops::Capture(). The first call runs it directly; later calls
  // replay the capture with the same places.
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
  std::list<Known> captured_;  // most recently used first
  bool first_ = true, plain_ = false;
};

}  // namespace recpack::train

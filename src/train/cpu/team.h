// Thread team of one CPU device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace recpack::train {

// Uses OpenMP's threads, as oneDNN does, so one team serves both. Used by the thread that called
// Attach().
class Team {
 public:
  // `processors`: one per thread, to bind it to; empty: not bound.
  Team(int threads, std::vector<int> processors);

  int threads() const noexcept { return threads_; }
  const std::vector<int>& processors() const noexcept { return processors_; }
  void Attach() const;

  // Calls body(i) for each i in [0, count), split into equal ranges, one per thread. `body` must
  // not throw.
  template <typename Body>
  void For(size_t count, const Body& body) const {
    Run(
        count, [](const void* context, size_t i) { (*static_cast<const Body*>(context))(i); },
        &body);
  }

 private:
  void Run(size_t count, void (*body)(const void*, size_t), const void* context) const;

  int threads_;
  std::vector<int> processors_;
};

}  // namespace recpack::train

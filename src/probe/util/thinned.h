// Downsampled copy of a growing series.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace recpack::probe {

// Keeps the first and the last value added and evenly spaced ones in between: at most kMost.
template <typename T>
class Thinned {
 public:
  void Add(T value) {
    last_ = std::move(value);
    has_last_ = true;
    if (count_++ % stride_ != 0) return;
    kept_.push_back(last_);
    if (kept_.size() == kMost) Halve();
  }

  // Drops values until at most `most` are kept, besides the last one added.
  void ShrinkTo(size_t most) {
    while (kept_.size() > most) Halve();
    kept_.shrink_to_fit();
  }

  // Returns the last value added; T() without any.
  const T& last() const noexcept { return last_; }

  std::vector<T> All() const {
    std::vector<T> all = kept_;
    if (has_last_ && (count_ - 1) % stride_ != 0) all.push_back(last_);
    return all;
  }

 private:
  static constexpr size_t kMost = 128;

  void Halve() {
    for (size_t i = 1; 2 * i < kept_.size(); ++i) kept_[i] = std::move(kept_[2 * i]);
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
  }

  std::vector<T> kept_;
  T last_{};
  bool has_last_ = false;
  size_t stride_ = 1;
  size_t count_ = 0;
};

}  // namespace recpack::probe

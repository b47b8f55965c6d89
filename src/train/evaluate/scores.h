// Scores of a network over a split, and what compares the logits of two networks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/train/evaluate/evaluator.h"

namespace recpack::train {

// Sums up the scores of one network over a split, and measures its speed. Not thread-safe.
class NetworkScore {
 public:
  // Calls `evaluate` with a batch, and returns what it returns.
  LossSums Take(DeviceBatch& batch, const std::function<LossSums(DeviceBatch&)>& evaluate);

  // Returns the scores; samples a second by the median time of a batch of `batch_size`.
  Evaluation Result(double batch_size) const;

 private:
  double loss_ = 0, correct_ = 0, samples_ = 0;
  std::vector<double> seconds_;  // per batch
};

// Difference between the logits of two networks, over the samples that count.
class LogitError {
 public:
  // One row a sample; `mask`: 1 for a sample that counts.
  void Add(const std::vector<float>& f32, const std::vector<float>& int8,
           const std::vector<uint8_t>& mask);

  // Root mean square of the differences over that of the first network's logits.
  double Relative() const;

 private:
  double squares_ = 0, difference_squares_ = 0;
};

// Returns the most probable class of each sample that counts. `logits`: in host memory, f32, one
// row a sample; `mask`: 1 for a sample that counts.
std::vector<int64_t> Classes(const Tensor& logits, const std::vector<uint8_t>& mask);

// Returns the probabilities of the classes of one sample.
std::vector<double> Softmax(const std::vector<float>& logits);

}  // namespace recpack::train

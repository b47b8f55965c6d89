#include "src/train/evaluate/scores.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "recpack/base/median.h"
#include "src/train/ops/seconds.h"

namespace recpack::train {

LossSums NetworkScore::Take(DeviceBatch& batch,
                            const std::function<LossSums(DeviceBatch&)>& evaluate) {
  const auto begin = std::chrono::steady_clock::now();
  const LossSums sums = evaluate(batch);
  seconds_.push_back(SecondsSince(begin));
  loss_ += sums.loss;
  correct_ += sums.correct;
  samples_ += sums.samples;
  return sums;
}

Evaluation NetworkScore::Result(double batch_size) const {
  Evaluation result;
  result.score = {loss_ / std::max(1.0, samples_), correct_ / std::max(1.0, samples_),
                  static_cast<uint64_t>(samples_)};
  if (!seconds_.empty()) result.samples_per_second = batch_size / Median(seconds_);
  return result;
}

void LogitError::Add(const std::vector<float>& f32, const std::vector<float>& int8,
                     const std::vector<uint8_t>& mask) {
  const size_t classes = f32.size() / mask.size();
  for (size_t i = 0; i < f32.size(); ++i) {
    if (!mask[i / classes]) continue;
    const double difference = static_cast<double>(int8[i]) - f32[i];
    squares_ += static_cast<double>(f32[i]) * f32[i];
    difference_squares_ += difference * difference;
  }
}

double LogitError::Relative() const {
  return squares_ > 0 ? std::sqrt(difference_squares_ / squares_) : 0;
}

std::vector<int64_t> Classes(const Tensor& logits, const std::vector<uint8_t>& mask) {
  std::vector<int64_t> classes;
  for (size_t i = 0; i < mask.size(); ++i) {
    const float* row = logits.As<float>() + static_cast<int64_t>(i) * logits.shape[1];
    if (mask[i]) classes.push_back(std::max_element(row, row + logits.shape[1]) - row);
  }
  return classes;
}

std::vector<double> Softmax(const std::vector<float>& logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  double sum = 0;
  for (const float logit : logits) {
    shares.push_back(std::exp(static_cast<double>(logit) - largest));
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace recpack::train

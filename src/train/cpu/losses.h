// Losses of one sample.
#pragma once

#include <cstdint>

namespace recpack::train {

struct SampleLoss {
  double loss;
  bool correct;
};

// -log(softmax(logits)[label]), and where `gradient` is not null scale times its derivative by the
// logits.
SampleLoss SoftmaxLoss(const float* logits, int64_t classes, int64_t label, float scale,
                       float* gradient);

}  // namespace recpack::train

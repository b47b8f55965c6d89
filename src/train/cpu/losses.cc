#include "src/train/cpu/losses.h"

#include <algorithm>
#include <cmath>

namespace recpack::train {

SampleLoss SoftmaxLoss(const float* logits, int64_t classes, int64_t label, float scale,
                       float* gradient) {
  const float* largest = std::max_element(logits, logits + classes);
  double sum = 0;
  for (int64_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(logits[k] - *largest));
  if (gradient) {
    for (int64_t k = 0; k < classes; ++k) {
      const double share = std::exp(static_cast<double>(logits[k] - *largest)) / sum;
      gradient[k] = static_cast<float>(scale * (share - (k == label ? 1 : 0)));
    }
  }
  return {std::log(sum) - (logits[label] - *largest), largest - logits == label};
}

}  // namespace recpack::train

#include "src/train/strategies/buckets.h"

namespace recpack::train {

std::vector<Bucket> MakeBuckets(const Variables& variables, size_t elements) {
  std::vector<Bucket> buckets;
  size_t end = variables.trained_size();
  for (size_t i = variables.specs().size(); i-- > 0;) {
    if (!variables.specs()[i].trained) continue;
    if (buckets.empty() || buckets.back().end - buckets.back().begin >= elements) {
      buckets.push_back({end, end, {}});
    }
    Bucket& bucket = buckets.back();
    bucket.variables.push_back(i);
    bucket.begin = end = variables.offset(i);
  }
  return buckets;
}

std::vector<size_t> BucketOfVariable(const Variables& variables,
                                     const std::vector<Bucket>& buckets) {
  std::vector<size_t> numbers(variables.specs().size(), buckets.size());
  for (size_t i = 0; i < buckets.size(); ++i) {
    for (const size_t variable : buckets[i].variables) numbers[variable] = i;
  }
  return numbers;
}

}  // namespace recpack::train

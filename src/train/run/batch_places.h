// Where the arrays of a batch are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "recpack/device/batch.h"
#include "src/train/models/model.h"

namespace recpack::train {

// Stays when the batch goes.
class BatchPlaces final : public BatchArrays {
 public:
  explicit BatchPlaces(const DeviceBatch& batch);
  const void* Raw(const std::string& name) const override;

  // In the order of the batch.
  const std::vector<const void*>& all() const noexcept { return all_; }

 private:
  std::vector<const void*> all_;
  std::map<std::string, const void*> by_name_;
};

}  // namespace recpack::train

#include "src/train/run/batch_places.h"

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {

BatchPlaces::BatchPlaces(const DeviceBatch& batch) {
  for (const ArraySpec& array : batch.arrays()) {
    all_.push_back(batch.Raw(all_.size()));
    by_name_[array.name] = all_.back();
  }
}

const void* BatchPlaces::Raw(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  throw Error(ErrorKind::kInvalidArgument, format("the batch has no array '{}'", name));
}

}  // namespace recpack::train

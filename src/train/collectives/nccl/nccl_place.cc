#include "src/train/collectives/nccl/nccl_place.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/collectives/machine.h"

namespace recpack::train {

GpuPlace PlaceOnBus(const std::string& bus) {
  const std::string text = format("{} {}", BootId(), bus);
  GpuPlace place = {};
  std::copy_n(text.data(), std::min(text.size(), place.size() - 1), place.data());
  return place;
}

void CheckThatPlacesDiffer(std::span<const GpuPlace> by_rank) {
  for (auto second = by_rank.begin(); second != by_rank.end(); ++second) {
    const auto first = std::find(by_rank.begin(), second, *second);
    if (first == second) continue;
    const std::string place(second->data());
    throw Error(ErrorKind::kUnsupported,
                format("ranks {} and {} use one GPU ({}); NCCL takes one rank per GPU",
                       first - by_rank.begin(), second - by_rank.begin(),
                       place.substr(place.find(' ') + 1)),
                {}, "give each rank a GPU of its own, or use the collectives of the host");
  }
}

}  // namespace recpack::train

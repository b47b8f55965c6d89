#include "src/device/feeder_target.h"

#include <algorithm>
#include <variant>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {

bool FeederTarget::uses_host() const { return !runtime || !std::ranges::all_of(devices, IsDevice); }

FeederTarget ChooseTarget(const DeviceFeederOptions& options) {
  if (options.depth == 0) {
    throw Error(ErrorKind::kInvalidArgument, "the feeder's depth is 0", {}, "choose 1 or more");
  }
  FeederTarget target{options.runtime, options.devices, options.depth, ""};
  const std::string none = "the program is linked without a device runtime";
  const DeviceCount count = options.runtime ? options.runtime->Count() : DeviceCount{0, none};
  if (count.devices == 0) {
    const auto named = std::ranges::find_if(options.devices, IsDevice);
    if (options.runtime && named != options.devices.end()) {
      throw Error(ErrorKind::kDevice, format("there is no device {}: {}", *named, count.reason), {},
                  "name no device to stay on the host");
    }
    target.runtime = nullptr;
    target.reason = count.reason;
  }
  if (target.devices.empty()) target.devices = {0};
  for (const int device : target.devices) {
    if (target.runtime && IsDevice(device) && (device < 0 || device >= count.devices)) {
      throw Error(ErrorKind::kDevice,
                  format("there is no device {}: this machine has {}", device, count.devices), {},
                  "devices count from 0");
    }
  }
  return target;
}

namespace {

// Erasing and mixing come after finishing, which then has to stay on the host.
bool ContinuesAfterFinishing(const ImageField& image, const LoaderOptions& options) {
  return image.augment.erasing.probability > 0 ||
         std::ranges::any_of(options.batch_steps, [&](const BatchStep& step) {
           const auto* mix = std::get_if<MixImages>(&step);
           return mix != nullptr ? mix->image == image.name : true;
         });
}

}  // namespace

LoaderOptions ToFeed(LoaderOptions options, const FeederTarget& target, SlabAllocator* slabs) {
  const auto lanes = static_cast<uint32_t>(target.devices.size());
  options.max_live_batches = 0;  // the gate waits instead, and slabs stay near their devices
  if (target.uses_host()) {
    options.prefetch = std::max(options.prefetch, lanes * static_cast<uint32_t>(target.depth) + 1);
  }
  if (target.runtime == nullptr) return options;
  if (!options.view_fields.empty()) {
    throw Error(ErrorKind::kUnsupported, "fields per view are not supported on devices", {},
                "give the loader the same fields for all views, or feed from the host");
  }
  options.prefetch = (std::max(options.prefetch, 2U) + lanes - 1) / lanes * lanes;
  if (options.slabs == nullptr) options.slabs = slabs;
  for (Field& field : options.fields) {
    auto* image = std::get_if<ImageField>(&field);
    if (image != nullptr && !ContinuesAfterFinishing(*image, options))
      image->finish_on_device = true;
  }
  return options;
}

}  // namespace recpack

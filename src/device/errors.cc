#include "src/device/errors.h"

#include "recpack/device/runtime.h"
#include "src/base/format.h"

namespace recpack {

namespace {

std::string Text(const std::string& call, int device, const std::string& text) {
  const std::string where = device < 0 ? "" : format(" on device {}", device);
  return format("{}{}: {}", call, where, text);
}

}  // namespace

Error DeviceError(const std::string& call, int device, const std::string& text,
                  const std::string& advice) {
  return {ErrorKind::kDevice, Text(call, device, text), {}, advice};
}

OutOfMemory DeviceMemoryError(const std::string& call, int device, size_t bytes,
                              const std::string& text) {
  return OutOfMemory(Text(format("{} of {} bytes", call, bytes), device, text),
                     "lower the feeder's `depth` or the batch size, or free memory of the device");
}

OutOfMemory PinError(const std::string& call, size_t bytes, const std::string& text) {
  return OutOfMemory(Text(format("{} of {} bytes of the host's memory", call, bytes), -1, text),
                     "lower `prefetch` or the batch size, or raise the limit of locked memory "
                     "(ulimit -l)");
}

const char* WaitPointName(WaitPoint point) noexcept {
  constexpr const char* kNames[kWaitPoints] = {
      "finish after copy",  "consumer after ready", "copy after consumer", "copy after finish",
      "release after copy", "free after consumer",  "free after finish",   "unwind copy",
      "unwind finish",      "unwind reader"};
  return kNames[static_cast<size_t>(point)];
}

}  // namespace recpack

#include "src/probe/gpu/accelerators.h"

#include <filesystem>
#include <string_view>

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

bool IsNumbered(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

// Looks for "accel0", or "0" in vfio/. The folder itself and vfio/vfio do not count: udev creates
// them wherever the driver is installed.
bool HasNumbered(const fs::path& folder, std::string_view prefix) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (IsNumbered(entry.path().filename().string(), prefix)) return true;
  }
  return false;
}

}  // namespace

bool AnyAccelerator(const std::string& dev) {
  const fs::path folder(dev);
  std::error_code code;
  return HasNumbered(folder, "nvidia") || HasNumbered(folder, "accel") ||
         HasNumbered(folder / "accel", "accel") || HasNumbered(folder / "vfio", "") ||
         fs::exists(folder / "kfd", code) || fs::exists(folder / "dxg", code);
}

}  // namespace recpack::probe

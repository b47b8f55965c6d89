#include "recpack/device/runtime.h"

namespace recpack {

DeviceRuntime* LinkedRuntime() noexcept { return nullptr; }

}  // namespace recpack

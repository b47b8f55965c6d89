// Shares as people read them.
#pragma once

#include <string>

#include "src/base/format.h"

namespace recpack::probe {

// "12.3 %" of 0.123.
inline std::string Percent(double share) { return format("{:.1f} %", 100 * share); }

}  // namespace recpack::probe

// A second, in the unit of events and samples.
#pragma once

#include <cstdint>

namespace recpack::probe {

inline constexpr int64_t kSecond = 1'000'000'000;  // nanoseconds

}  // namespace recpack::probe

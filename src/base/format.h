// The one place that includes fmt.
#pragma once

#include <fmt/format.h>

namespace recpack {
using fmt::format;
}

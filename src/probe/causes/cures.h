// What is usually done about a bottleneck.
#pragma once

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Empty where there is nothing to do.
const char* CureOf(Bottleneck bottleneck) noexcept;

}  // namespace recpack::probe

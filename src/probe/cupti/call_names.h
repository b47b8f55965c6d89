// The calls of CUDA that are traced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/probe/cupti/cupti_api.h"

namespace recpack::probe {

// Names by CUPTI's numbers, of those that launch, copy, allocate or wait (IsHostWork()); of the
// others they are empty.
std::vector<std::string> WorkCalls(const CuptiApi& api, CUpti_CallbackDomain domain);

}  // namespace recpack::probe

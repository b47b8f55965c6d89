// Who had the processors that a training wanted.
#pragma once

#include <cstddef>

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Names it in the verdict where others, or the container's quota, kept the `threads` threads of the
// process (0: of all) that wanted a processor most from working much of the time.
bool ProcessorsAreTaken(const Evidence& evidence, int process, size_t threads, Verdict& verdict);

}  // namespace recpack::probe

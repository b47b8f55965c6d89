// What the rules say that many go by, and what contradicts them.
#pragma once

#include <string>
#include <vector>

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// "A GPU below 80 % may wait for its input: look at the processors and at file I/O": a line for
// each GPU that was seen, and for these where they are busy. They decide nothing.
std::vector<std::string> HintsOf(const Evidence& evidence, const Verdict& verdict);

}  // namespace recpack::probe

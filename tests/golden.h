// Paths of the committed samples.
#pragma once

#include <string>

namespace recpack {

// The path of tests/golden/`name`. A function, not a macro: compilations of the tests then do not
// depend on where the repository lies, and a clone is built from another's ccache.
std::string GoldenPath(const std::string& name);

}  // namespace recpack

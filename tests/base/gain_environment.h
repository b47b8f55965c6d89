// Environment of a `recprobe gain` run, for tests.
#pragma once

#include <cstdlib>
#include <string>

#include "recpack/base/gain.h"

namespace recpack {

// Sets the environment variable during its lifetime.
class GainEnvironment {
 public:
  explicit GainEnvironment(const std::string& text) {
    ::setenv(GainPlan::kVariable, text.c_str(), 1);
  }
  ~GainEnvironment() { ::unsetenv(GainPlan::kVariable); }
  GainEnvironment(const GainEnvironment&) = delete;
};

}  // namespace recpack

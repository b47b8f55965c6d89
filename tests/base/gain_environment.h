// The environment of a run of recprobe gain.
#pragma once

#include <cstdlib>
#include <string>

#include "recpack/base/gain.h"

namespace recpack {

// While it lives, this process was started so.
class GainEnvironment {
 public:
  explicit GainEnvironment(const std::string& text) {
    ::setenv(GainPlan::kVariable, text.c_str(), 1);
  }
  ~GainEnvironment() { ::unsetenv(GainPlan::kVariable); }
  GainEnvironment(const GainEnvironment&) = delete;
};

}  // namespace recpack

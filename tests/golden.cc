#include "tests/golden.h"

namespace recpack {

std::string GoldenPath(const std::string& name) {
  return std::string(RECPACK_GOLDEN_DIR "/") + name;
}

}  // namespace recpack

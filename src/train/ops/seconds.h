// Measures elapsed time in seconds.
#pragma once

#include <chrono>

namespace recpack::train {

inline double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace recpack::train

// What could not be seen, and why.
#pragma once

#include <string>

namespace recpack::probe {

struct Unseen {
  std::string what;    // "I/O of processes"
  std::string reason;  // "Permission denied (/proc/12/io)"
  std::string right;   // what would make it available; empty where nobody knows
};

}  // namespace recpack::probe

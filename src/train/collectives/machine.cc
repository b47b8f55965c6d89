#include "src/train/collectives/machine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>

namespace recpack::train {

std::string BootId() {
  std::string text;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
  return text;
}

uint64_t MachineId() {
  std::string text;
  if (const char* given = std::getenv("RECPACK_MACHINE"); given != nullptr && *given != '\0') {
    text = given;
  } else {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    text = BootId() + " " + host.data();
  }
  return std::max<uint64_t>(std::hash<std::string>()(text), 1);
}

}  // namespace recpack::train

#include "recpack/base/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "recpack/base/error.h"

namespace recpack {
namespace {

using Mask = std::vector<unsigned long>;

constexpr size_t kWordBits = 8 * sizeof(unsigned long);
constexpr size_t kFirstBits = 1024;        // size of cpu_set_t
constexpr size_t kMostBits = 1024 * 1024;  // more than any Linux kernel supports

int ReadThreadMask(std::span<unsigned long> mask) {
  auto* const set = reinterpret_cast<cpu_set_t*>(mask.data());
  return ::sched_getaffinity(0, mask.size_bytes(), set) == 0 ? 0 : errno;
}

// The first of a core's processors, of a list such as "0,64" or "0-1".
int ReadCore(int processor) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                     "/topology/thread_siblings_list");
  int first = -1;
  return file >> first ? first : -1;
}

}  // namespace

std::vector<int> AllowedProcessors(const AffinityReader& read) {
  Mask mask;
  int error = EINVAL;
  for (size_t bits = kFirstBits; error == EINVAL && bits <= kMostBits; bits *= 2) {
    mask.assign(bits / kWordBits, 0);
    error = read ? read(mask) : ReadThreadMask(mask);
  }
  if (error != 0) {
    throw SystemError("cannot read the CPU affinity of this process", "", error);
  }
  std::vector<int> allowed;
  for (size_t i = 0; i < mask.size() * kWordBits; ++i) {
    if ((mask[i / kWordBits] >> i % kWordBits & 1) != 0) allowed.push_back(static_cast<int>(i));
  }
  return allowed;
}

std::vector<int> CoresFirst(const std::vector<int>& processors, const CoreReader& core_of) {
  std::map<int, int> seen;  // processors of a core so far
  std::vector<std::pair<int, int>> ordered;
  for (const int processor : processors) {
    const int core = core_of ? core_of(processor) : ReadCore(processor);
    ordered.emplace_back(core < 0 ? 0 : seen[core]++, processor);
  }
  std::ranges::sort(ordered);
  std::vector<int> result;
  result.reserve(ordered.size());
  for (const auto& [sibling, processor] : ordered) result.push_back(processor);
  return result;
}

void BindThread(int processor) noexcept {
  const auto number = static_cast<size_t>(processor);
  Mask mask(number / kWordBits + 1);
  mask[number / kWordBits] = 1UL << number % kWordBits;
  ::sched_setaffinity(0, mask.size() * sizeof mask[0],
                      reinterpret_cast<const cpu_set_t*>(mask.data()));
}

}  // namespace recpack

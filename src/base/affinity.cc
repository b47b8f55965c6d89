#include "recpack/base/affinity.h"

#include <sched.h>

#include <cerrno>
#include <cstddef>

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

void BindThread(int processor) noexcept {
  const auto number = static_cast<size_t>(processor);
  Mask mask(number / kWordBits + 1);
  mask[number / kWordBits] = 1UL << number % kWordBits;
  ::sched_setaffinity(0, mask.size() * sizeof mask[0],
                      reinterpret_cast<const cpu_set_t*>(mask.data()));
}

}  // namespace recpack

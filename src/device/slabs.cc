#include "recpack/device/slabs.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "recpack/base/out_of_memory.h"

namespace recpack {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;

}  // namespace

int NumaNode(const std::string& pci_bus, const std::string& sysfs) {
  std::string name = pci_bus;
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file(sysfs + "/bus/pci/devices/" + name + "/numa_node");
  int node = -1;
  return !name.empty() && file >> node && node >= 0 ? node : -1;
}

bool PreferNode(void* memory, size_t bytes, int node) noexcept {
  constexpr size_t kBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, 16> nodes = {};
  if (node < 0 || static_cast<size_t>(node) >= nodes.size() * kBits) return false;
  nodes[static_cast<size_t>(node) / kBits] = 1UL << (static_cast<size_t>(node) % kBits);
  return ::syscall(SYS_mbind, memory, bytes, MPOL_PREFERRED, nodes.data(), nodes.size() * kBits,
                   0) == 0;
}

PinnedSlabs::PinnedSlabs(DeviceRuntime& runtime, const std::vector<int>& devices)
    : runtime_(runtime) {
  for (const int device : devices) {
    nodes_.push_back(device < 0 ? -1 : NumaNode(runtime.Info(device).pci_bus));
  }
}

std::shared_ptr<void> PinnedSlabs::Allocate(size_t bytes) {
  const int node = nodes_.empty() ? -1 : nodes_[next_++ % nodes_.size()];
  const size_t unit = bytes >= kHugePage ? kHugePage : kPage;
  const size_t size = std::max((bytes + unit - 1) / unit, size_t{1}) * unit;
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw HostMemoryError(bytes);
  try {
    ::madvise(memory, size, MADV_HUGEPAGE);  // a hint, like the next call
    PreferNode(memory, size, node);
    // Touch pages under the policy before they are pinned: the first touch decides on their node.
    for (size_t i = 0; i < size; i += kPage) static_cast<volatile char*>(memory)[i] = 0;
    runtime_.Pin(memory, size);
  } catch (...) {
    ::munmap(memory, size);
    throw;
  }
  return {memory, [&runtime = runtime_, size](void* slab) {
            runtime.Unpin(slab);
            ::munmap(slab, size);
          }};
}

}  // namespace recpack

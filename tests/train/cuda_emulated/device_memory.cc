#include "tests/train/cuda_emulated/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace recpack::emulated {
namespace {

constexpr size_t kAlignment = 256;  // as in CUDA
constexpr int kGarbage = 0xff;
constexpr size_t kMostGarbage = size_t{1} << 20;  // pages beyond are not filled and read as zeros

size_t Page() {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return page;
}

size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

[[noreturn]] void End(const char* why) {
  std::fprintf(stderr, "emulated CUDA: %s\n", why);
  std::abort();
}

}  // namespace

void FillWithGarbage(void* memory, size_t bytes) {
  if (bytes > 0) std::memset(memory, kGarbage, bytes);
}

DeviceMemory::~DeviceMemory() {
  while (!arrays_.empty()) Free(const_cast<char*>(arrays_.begin()->first));
}

// As near to the guard page as the alignment allows.
void* DeviceMemory::Allocate(int device, size_t bytes) {
  const size_t size = RoundUp(std::max<size_t>(bytes, 1), kAlignment);
  const size_t mapped = RoundUp(size, Page());
  void* const start = mmap(nullptr, mapped + Page(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) End("no memory of the host for a device's");
  mprotect(static_cast<char*>(start) + mapped, Page(), PROT_NONE);
  const Mapping mapping{device, bytes, static_cast<char*>(start), mapped};
  char* const begin = mapping.end() - size;
  FillWithGarbage(start, std::min(mapped, kMostGarbage));
  FillWithGarbage(mapping.end() - std::min(mapped, Page()), std::min(mapped, Page()));
  Protect(mapping, (open_ >> device & 1) != 0);
  arrays_.emplace(begin, mapping);
  return begin;
}

bool DeviceMemory::Free(void* memory) {
  const auto found = arrays_.find(static_cast<const char*>(memory));
  if (found == arrays_.end()) return false;
  const Mapping& mapping = found->second;
  Protect(mapping, true);
  Check(found->first, mapping);
  // Only the address range is kept, so that a late access is detected.
  mmap(mapping.start, mapping.mapped + Page(), PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  arrays_.erase(found);
  return true;
}

// Checks that the bytes around an array in its mapping are unchanged.
void DeviceMemory::Check(const char* begin, const Mapping& mapping) {
  const auto untouched = [](const char* from, const char* to) {
    return std::all_of(from, to, [](char c) { return static_cast<unsigned char>(c) == kGarbage; });
  };
  if (!untouched(mapping.start, begin) || !untouched(begin + mapping.bytes, mapping.end())) {
    End("a device wrote outside of an array");
  }
}

std::optional<DeviceMemory::Array> DeviceMemory::Find(const void* address) const {
  const auto* const place = static_cast<const char*>(address);
  auto after = arrays_.upper_bound(place);
  if (after == arrays_.begin()) return {};
  const auto& [begin, mapping] = *--after;
  if (place >= begin + std::max<size_t>(mapping.bytes, 1)) return {};
  return Array{mapping.device, const_cast<char*>(begin), mapping.bytes};
}

bool DeviceMemory::Holds(const void* memory, size_t bytes) const {
  const auto array = Find(memory);
  if (!array) return false;
  const auto offset = static_cast<size_t>(static_cast<const char*>(memory) - array->begin);
  return offset + bytes <= array->bytes;
}

void DeviceMemory::Open(uint32_t devices) {
  if (devices == open_) return;
  for (const auto& [begin, mapping] : arrays_) {
    const bool open = (devices >> mapping.device & 1) != 0;
    if (open != ((open_ >> mapping.device & 1) != 0)) Protect(mapping, open);
  }
  open_ = devices;
}

void DeviceMemory::Protect(const Mapping& mapping, bool open) {
  mprotect(mapping.start, mapping.mapped, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

size_t DeviceMemory::BytesOf(int device) const {
  size_t bytes = 0;
  for (const auto& [begin, mapping] : arrays_) {
    if (mapping.device == device) bytes += mapping.bytes;
  }
  return bytes;
}

}  // namespace recpack::emulated

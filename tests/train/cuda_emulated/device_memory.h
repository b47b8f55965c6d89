// Memory of emulated devices. Only work on a device can access it: accesses by the host, by another
// device, beyond an array's end or after its free end the program (SIGSEGV). New memory contains
// garbage, at least in its first MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace recpack::emulated {

// Fills memory with implausible values: NaN, -1.
void FillWithGarbage(void* memory, size_t bytes);

class DeviceMemory {
 public:
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* Allocate(int device, size_t bytes);
  // Returns whether there was an array at this address. Addresses are not reused.
  bool Free(void* memory);

  struct Array {
    int device;
    char* begin;
    size_t bytes;
  };
  // Device that owns an address; nullopt: it is in no array.
  std::optional<Array> Find(const void* address) const;

  // Tells whether the range is within one array.
  bool Holds(const void* memory, size_t bytes) const;

  // From now on, only the devices of these bits can be accessed.
  void Open(uint32_t devices);

  size_t BytesOf(int device) const;
  size_t Arrays() const { return arrays_.size(); }

 private:
  struct Mapping {
    int device;
    size_t bytes;   // requested
    char* start;    // of the mapping, followed by a page that is never accessible
    size_t mapped;  // without that page
    char* end() const { return start + mapped; }
  };
  static void Check(const char* begin, const Mapping& mapping);
  static void Protect(const Mapping& mapping, bool open);

  std::map<const char*, Mapping> arrays_;
  uint32_t open_ = 0;
};

}  // namespace recpack::emulated

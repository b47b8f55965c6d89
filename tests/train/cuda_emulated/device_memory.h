// Memory of devices. Only what runs on a device can touch it: the host's own accesses, another
// device's, those past an array's end and those of freed memory end the program (SIGSEGV). New
// memory is full of garbage, its first MiB at least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace recpack::emulated {

// Fills with what no result is: NaN, -1.
void FillWithGarbage(void* memory, size_t bytes);

class DeviceMemory {
 public:
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* Allocate(int device, size_t bytes);
  // Whether there was an array at this address. The address is not used again.
  bool Free(void* memory);

  struct Array {
    int device;
    char* begin;
    size_t bytes;
  };
  // Whose array an address lies in; empty: in none.
  std::optional<Array> Find(const void* address) const;

  // Whether the range lies in one array.
  bool Holds(const void* memory, size_t bytes) const;

  // From here on only the devices of these bits can be accessed.
  void Open(uint32_t devices);

  size_t BytesOf(int device) const;
  size_t Arrays() const { return arrays_.size(); }

 private:
  struct Mapping {
    int device;
    size_t bytes;   // asked for
    char* start;    // of the mapping, with a page behind that is never accessible
    size_t mapped;  // without that page
    char* end() const { return start + mapped; }
  };
  static void Check(const char* begin, const Mapping& mapping);
  static void Protect(const Mapping& mapping, bool open);

  std::map<const char*, Mapping> arrays_;
  uint32_t open_ = 0;
};

}  // namespace recpack::emulated

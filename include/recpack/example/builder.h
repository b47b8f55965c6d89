// Serialiser of tf.train.Example in Protocol Buffers wire format (docs/format/example.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/example/view.h"

namespace recpack {

// Collects the features of one example and serialises them in ascending order of their names, with
// packed int64 and float lists: equal features give equal bytes. Names and byte values are not
// copied and must live until Clear(); numbers are copied. Reuse the builder: Clear() keeps its
// memory. Not thread-safe.
class ExampleBuilder {
 public:
  void AddBytes(std::string_view name, ByteView value);
  void AddBytesList(std::string_view name, std::span<const ByteView> values);
  void AddInt64(std::string_view name, int64_t value);
  void AddInt64List(std::string_view name, std::span<const int64_t> values);
  void AddFloat(std::string_view name, float value);
  void AddFloatList(std::string_view name, std::span<const float> values);

  // Adds a parsed feature under `name`.
  void Add(std::string_view name, const FeatureView& feature);

  // Adds a feature without a kind, as TensorFlow writes a Feature message with no field set.
  void AddNone(std::string_view name);

  // Returns the serialised size in bytes. Call it before SerializeTo(). Throws Error:
  // kInvalidArgument if a name was added twice or is not UTF-8, kUnsupported for more than 2 GiB.
  size_t ByteSize();

  // Writes exactly ByteSize() bytes and returns the end.
  uint8_t* SerializeTo(uint8_t* out) const;

  void Clear() noexcept;

 private:
  enum class Kind : uint8_t { kBytes, kFloat, kInt64, kNone };
  struct Entry {
    std::string_view name;
    Kind kind = Kind::kBytes;
    uint32_t first = 0;  // index into bytes_, floats_ or ints_
    uint32_t count = 0;
    uint64_t values_bytes = 0;   // size of the list message
    uint64_t feature_bytes = 0;  // size of the Feature message
    uint64_t entry_bytes = 0;    // size of the map entry
  };

  void Measure(Entry& entry) const;
  uint8_t* WriteValues(const Entry& entry, uint8_t* out) const;

  std::vector<Entry> entries_;
  std::vector<ByteView> bytes_;
  std::vector<float> floats_;
  std::vector<int64_t> ints_;
  uint64_t features_bytes_ = 0;
};

}  // namespace recpack

// Tests that parsing allocates nothing after a record of that size has been parsed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "recpack/example/builder.h"
#include "recpack/example/view.h"

namespace {
std::atomic<uint64_t> allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace recpack {
namespace {

// Concatenated Examples are merged, so that their features keep the given order.
std::string Unsorted(int features) {
  std::string record;
  for (int i = 0; i < features; ++i) {
    ExampleBuilder builder;
    const std::string name = std::to_string(i * 7919 % features);
    builder.AddInt64(name, i);
    std::string one(builder.ByteSize(), '\0');
    builder.SerializeTo(reinterpret_cast<uint8_t*>(one.data()));
    record += one;
  }
  return record;
}

TEST(ViewMemoryTest, ParsingAgainAllocatesNothingHoweverManyFeaturesAreUnsorted) {
  for (const int features : {3, 33, 1000}) {
    const std::string record = Unsorted(features);
    ExampleView view;
    view.Parse(AsBytes(record));
    const uint64_t before = allocations;
    view.Parse(AsBytes(record));
    EXPECT_EQ(allocations, before) << features;
    EXPECT_EQ(view.size(), static_cast<size_t>(features));
  }
}

}  // namespace
}  // namespace recpack

// Fuzzes ExampleView against Protocol Buffers: both must agree on every input.
#include <cstdlib>

#include "tests/example/oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const recpack::ByteView record(data, size);
  if (recpack::ByView(record) != recpack::ByOracle(record)) std::abort();
  return 0;
}

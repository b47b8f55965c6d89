// Fuzzes pickles: an Error, or a document that can be walked completely.
#include <cstdint>

#include "recpack/base/error.h"
#include "src/pack/sources/cifar/pickle.h"

namespace {

uint64_t Walk(const recpack::pack::PickleDocument& document,
              const recpack::pack::PickleValue& value, int depth) {
  using recpack::pack::PickleKind;
  uint64_t sum = value.size;
  if (value.kind == PickleKind::kBytes || value.kind == PickleKind::kText) {
    for (uint64_t i = 0; i < value.size; ++i) sum += value.data[i];
  }
  if (value.kind == PickleKind::kArray) sum += document.Array(value).shape.size();
  if (depth == 3) return sum;
  size_t left = 100;  // limit, since shared lists are walked repeatedly
  for (const recpack::pack::PickleValue& item : document.Items(value)) {
    if (left-- == 0) break;
    sum += Walk(document, item, depth + 1);
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto document = recpack::pack::ParsePickle({.memory = {data, size}});
    [[maybe_unused]] static volatile uint64_t sink;
    sink = Walk(document, document.root(), 0);
    document.Find(document.root(), "data");
  } catch (const recpack::Error&) {
  }
  return 0;
}

#include "tools/some_jpegs.h"

#include <algorithm>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/example/view.h"
#include "recpack/image/header.h"

namespace recpack::tool {

std::vector<ByteBuffer> SomeJpegs(const Dataset& dataset) {
  constexpr uint64_t kPictures = 64;
  std::vector<ByteBuffer> jpegs;
  const auto source = dataset.NewSource();
  ByteBuffer memory;
  ExampleView example;
  const uint64_t count = std::min(kPictures, dataset.records());
  for (uint64_t i = 0; i < count; ++i) {
    example.Parse(source->Read(dataset.records() * i / count, memory));
    for (const FeatureView& feature : example) {
      if (feature.kind() != FeatureKind::kBytes || feature.size() != 1) continue;
      const ByteView bytes = feature.bytes_values()[0];
      try {
        if (ReadImageHeader(bytes).format != ImageFormat::kJpeg) continue;
      } catch (const Error&) {
        continue;
      }
      jpegs.emplace_back(bytes.begin(), bytes.end());
      break;
    }
  }
  return jpegs;
}

}  // namespace recpack::tool

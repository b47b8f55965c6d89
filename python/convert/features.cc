#include "python/convert/features.h"

#include <stdexcept>
#include <utility>

#include "python/convert/owned_array.h"
#include "python/convert/shapes.h"
#include "recpack/base/text.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

nb::object Values(const FeatureView& feature) {
  switch (feature.kind()) {
    case FeatureKind::kInt64:
      return OwnedArray(feature.int64_values());
    case FeatureKind::kFloat:
      return OwnedArray(feature.float_values());
    case FeatureKind::kBytes: {
      const auto values = feature.bytes_values();
      if (values.size() == 1) return OwnedArray(values[0]);
      std::vector<ByteBuffer> copies;
      copies.reserve(values.size());
      for (const ByteView value : values) copies.emplace_back(value.begin(), value.end());
      nb::list list;
      for (ByteBuffer& copy : copies) {
        const size_t bytes = copy.size();
        list.append(OwnedArray(std::move(copy), {bytes}));
      }
      return list;
    }
    case FeatureKind::kNone:
      break;
  }
  return nb::list();
}

}  // namespace

Features::Features(ByteView example) : own_(std::make_unique<ExampleView>()), example_(own_.get()) {
  own_->Parse(example);
}

const ExampleView& Features::example() const {
  if (example_ == nullptr) {
    throw std::runtime_error("a sample has its features while its function is called, not after");
  }
  return *example_;
}

nb::object Features::Get(const std::string& name) const {
  const FeatureView* feature = example().Find(name);
  if (feature != nullptr) return InItsShape(Values(*feature), example(), *feature);
  const std::string names = JoinNames(example(), &FeatureView::name);
  throw nb::key_error(("no feature '" + name + "'; the sample has: " + names).c_str());
}

std::vector<std::string> Features::Names() const {
  std::vector<std::string> names;
  for (const FeatureView& each : example()) names.emplace_back(each.name());
  return names;
}

}  // namespace recpack::python

#include "python/objects/column.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "python/convert/owned_array.h"
#include "recpack/base/error.h"
#include "recpack/loader/feature.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

struct Form {
  FeatureKind kind;
  size_t values;  // per record
};

Form FirstForm(const View& view, const std::string& name) {
  const auto source = view.dataset().NewSource();
  const uint64_t id = view.Record(0, 0, 0);
  ByteBuffer memory;
  ExampleView example;
  try {
    example.Parse(source->Read(id, memory));
    view.dataset().MapFeatures(example);
    const FeatureView& feature = RequireFeature(example, name);
    return {feature.kind(), feature.size()};
  } catch (const Error& error) {
    throw error.At(view.dataset().FindPlace(id));
  }
}

template <typename T, typename Values>
std::vector<T> Read(const View& view, const std::string& name, const Form& form, Values values) {
  std::vector<T> all(view.samples() * form.values);
  view.ForEachRecord([&](uint64_t number, uint64_t, const ExampleView& example) {
    const FeatureView& feature = RequireFeature(example, name);
    if (feature.kind() != form.kind || feature.size() != form.values) {
      Refuse("feature '" + name + "' has " + std::to_string(feature.size()) + " values of kind " +
                 FeatureKindName(feature.kind()) + ", the first record's " +
                 std::to_string(form.values) + " of kind " + FeatureKindName(form.kind),
             "read such features record by record");
    }
    std::ranges::copy(values(feature), all.begin() + static_cast<ptrdiff_t>(number * form.values));
  });
  return all;
}

template <typename T>
nb::object ToArray(std::vector<T> values, uint64_t samples, const Form& form) {
  if (form.values == 1) return OwnedArray(std::move(values), {samples});
  return OwnedArray(std::move(values), {samples, form.values});
}

}  // namespace

nb::object Column(const View& view, const std::string& name) {
  Form form{};
  std::vector<int64_t> numbers;
  std::vector<float> floats;
  std::vector<std::string> texts;
  {
    const nb::gil_scoped_release unlocked;
    form = FirstForm(view, name);
    if (form.kind == FeatureKind::kInt64) {
      numbers = Read<int64_t>(view, name, form, [](const auto& f) { return f.int64_values(); });
    } else if (form.kind == FeatureKind::kFloat) {
      floats = Read<float>(view, name, form, [](const auto& f) { return f.float_values(); });
    } else if (form.values == 1) {
      texts = Read<std::string>(view, name, form, [](const auto& f) {
        const ByteView value = f.bytes_values()[0];
        return std::vector<std::string>{{value.begin(), value.end()}};
      });
    } else {
      Refuse("feature '" + name + "' has " + std::to_string(form.values) + " values of kind " +
                 FeatureKindName(form.kind),
             "a column has numbers, or one value of bytes per record");
    }
  }
  if (form.kind == FeatureKind::kInt64) return ToArray(std::move(numbers), view.samples(), form);
  if (form.kind == FeatureKind::kFloat) return ToArray(std::move(floats), view.samples(), form);
  nb::list list;
  for (const std::string& text : texts) list.append(nb::bytes(text.data(), text.size()));
  return list;
}

}  // namespace recpack::python

// Bindings of views and mixtures, which recpack_io.views wraps.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <span>
#include <variant>

#include "python/bind/bind.h"
#include "python/convert/owned_array.h"
#include "python/objects/column.h"
#include "python/objects/dataset.h"
#include "recpack/loader/feature.h"
#include "recpack/loader/mixture.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::vector<T> ToVector(const Vector<T>& array) {
  return {array.data(), array.data() + array.size()};
}

// Wanted values of a feature: numbers and bytes.
struct Wanted {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;

  bool Matches(const FeatureView& feature) const {
    return std::ranges::any_of(
               feature.int64_values(),
               [&](int64_t value) { return std::ranges::binary_search(numbers, value); }) ||
           std::ranges::any_of(feature.bytes_values(), [&](ByteView value) {
             const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
             return std::ranges::binary_search(texts, text);
           });
  }
};

using WantedValues = std::vector<std::variant<int64_t, nb::bytes>>;

std::map<std::string, Wanted> ToWanted(const nb::dict& given) {
  std::map<std::string, Wanted> wanted;
  for (const auto& [name, values] : given) {
    Wanted& of = wanted[nb::cast<std::string>(name)];
    for (const auto& value : nb::cast<WantedValues>(values)) {
      if (const auto* number = std::get_if<int64_t>(&value)) {
        of.numbers.push_back(*number);
      } else {
        const auto& bytes = std::get<nb::bytes>(value);
        of.texts.emplace_back(bytes.c_str(), bytes.size());
      }
    }
    std::ranges::sort(of.numbers);
    std::ranges::sort(of.texts);
  }
  return wanted;
}

View Filter(const View& of, const nb::dict& given, bool leave_out_corrupt) {
  const auto wanted = ToWanted(given);
  const nb::gil_scoped_release unlocked;
  return View::Filter(of,
                      [&](const ExampleView& example, uint64_t) {
                        return std::ranges::all_of(wanted, [&](const auto& each) {
                          return each.second.Matches(RequireFeature(example, each.first));
                        });
                      },
                      {.leave_out_corrupt = leave_out_corrupt});
}

// Returns the ordinals of a view's samples. Not for drawn views.
nb::object Ids(const View& view) {
  std::vector<uint64_t> ids(view.samples());
  for (uint64_t i = 0; i < ids.size(); ++i) ids[i] = view.Record(i, 0, 0);
  const size_t count = ids.size();
  return OwnedArray(std::move(ids), {count});
}

}  // namespace

void BindViews(nb::module_& module) {
  nb::class_<View>(module, "View")
      .def("__init__", [](View* self, const OpenDataset& open) { new (self) View(open.dataset()); })
      .def("subset",
           [](const View& of, const Vector<uint64_t>& numbers) {
             return View::Subset(of, ToVector(numbers));
           })
      .def("filter", Filter)
      .def("hash_split",
           [](const View& of, double begin, double end, uint64_t seed, const std::string& key,
              bool leave_out_corrupt) {
             const nb::gil_scoped_release unlocked;
             return View::HashSplit(of, {begin, end, seed, key},
                                    {.leave_out_corrupt = leave_out_corrupt});
           })
      .def("balanced",
           [](const View& of, const std::string& label, uint64_t epoch_samples,
              bool leave_out_corrupt) {
             const nb::gil_scoped_release unlocked;
             return View::ClassBalanced(of, label, epoch_samples,
                                        {.leave_out_corrupt = leave_out_corrupt});
           })
      .def("weighted",
           [](const View& of, const Vector<double>& weights, uint64_t epoch_samples) {
             return View::Weighted(of, ToVector(weights), epoch_samples);
           })
      .def("column", Column, nb::sig("def column(self, feature: str) -> typing.Any"))
      .def("ids", Ids, nb::sig("def ids(self) -> typing.Any"))
      .def_prop_ro("samples", &View::samples)
      .def_prop_ro("drawn", &View::drawn)
      .def_prop_ro("digest", &View::digest);
  nb::class_<Mixture>(module, "Mixture")
      .def(nb::init<const View&>())
      .def("__init__",
           [](Mixture* self, const std::vector<std::pair<const View*, double>>& given,
              uint32_t period, uint64_t epoch_samples) {
             std::vector<MixedView> views;
             for (const auto& [view, weight] : given) views.push_back({*view, weight});
             new (self) Mixture(views, {.period = period, .epoch_samples = epoch_samples});
           })
      .def_prop_ro("samples", &Mixture::samples)
      .def_prop_ro("period", &Mixture::period)
      .def_prop_ro("counts", &Mixture::counts)
      .def_prop_ro("digest", &Mixture::digest);
}

}  // namespace recpack::python

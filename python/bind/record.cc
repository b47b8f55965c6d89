// Bindings of records: features by name, as NumPy arrays over the record's memory.
#include "python/objects/record.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bind/bind.h"
#include "python/convert/given.h"
#include "python/convert/shapes.h"
#include "python/convert/text.h"

namespace recpack::python {
namespace nb = nanobind;

void Record::Holds(ByteView payload) {
  if (payload.data() != memory_.data()) memory_.assign(payload.begin(), payload.end());
  payload_ = ByteView(memory_).first(payload.size());
}

const ExampleView& Record::example() {
  if (parsed_) return example_;
  try {
    example_.Parse(payload_);
    dataset_.MapFeatures(example_);
  } catch (const Error& error) {
    throw error.At(dataset_.FindPlace(id_));
  }
  parsed_ = true;
  return example_;
}

namespace {

// `owner` keeps the values' memory alive.
template <typename T>
nb::object Array(std::span<const T> values, nb::handle owner) {
  return nb::cast(
      nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, owner));
}

nb::object Values(const FeatureView& feature, nb::handle owner) {
  switch (feature.kind()) {
    case FeatureKind::kInt64:
      return Array(feature.int64_values(), owner);
    case FeatureKind::kFloat:
      return Array(feature.float_values(), owner);
    case FeatureKind::kBytes: {
      const auto values = feature.bytes_values();
      if (values.size() == 1) return Array(values[0], owner);
      nb::list list;
      for (const ByteView value : values) list.append(Array(value, owner));
      return list;
    }
    case FeatureKind::kNone:
      break;
  }
  return nb::list();
}

nb::object Get(nb::handle_t<Record> self, nb::handle given) {
  const auto name = Given<std::string>(given, "the key of a record", "the name of a feature");
  const ExampleView& example = nb::cast<Record&>(self).example();
  const FeatureView* feature = example.Find(name);
  if (feature == nullptr) throw nb::key_error(name.c_str());
  return InItsShape(Values(*feature, self), example, *feature);
}

nb::list Names(Record& record) {
  nb::list names;
  for (const FeatureView& feature : record.example()) {
    names.append(nb::str(feature.name().data(), feature.name().size()));
  }
  return names;
}

// "<recpack_io.Record 7: image bytes[3072], label int64[1]>"
std::string Described(Record& record) {
  std::string features;
  for (const FeatureView& feature : record.example()) {
    const bool is_text = feature.kind() == FeatureKind::kBytes && feature.size() == 1;
    const size_t size = is_text ? feature.bytes_values()[0].size() : feature.size();
    features += (features.empty() ? ": " : ", ") + std::string(feature.name()) + " " +
                FeatureKindName(feature.kind()) + "[" + std::to_string(size) + "]";
  }
  return "<recpack_io.Record " + std::to_string(record.id()) + features + ">";
}

}  // namespace

void BindRecord(nb::module_& module) {
  nb::class_<Record>(module, "Record",
                     "One record of a data set: its features by name.\n\n"
                     "A feature of numbers is a NumPy array of its values (int64 or float32, shape "
                     "(n,), or that of the feature NAME/shape); one of bytes is a uint8 array of "
                     "shape (bytes,), or a list of such "
                     "where it has not just one value. Arrays are read-only views: they keep the "
                     "record alive, nothing is copied.")
      .def("__getitem__", Get, nb::arg("name"), nb::lock_self(),
           nb::sig("def __getitem__(self, name: str) -> typing.Any"))
      .def(
          "__contains__",
          [](Record& record, nb::handle name) {
            std::string text;
            return nb::try_cast(name, text) && record.example().Find(text) != nullptr;
          },
          nb::lock_self(), nb::sig("def __contains__(self, name: object) -> bool"))
      .def(
          "__len__", [](Record& record) { return record.example().size(); }, nb::lock_self())
      .def(
          "__iter__", [](Record& record) { return nb::iter(Names(record)); }, nb::lock_self(),
          nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"))
      .def("keys", Names, nb::lock_self(), nb::sig("def keys(self) -> list[str]"),
           "Names of the features, sorted.")
      .def(
          "to_dict",
          [](nb::handle_t<Record> self) {
            nb::dict all;
            const ExampleView& example = nb::cast<Record&>(self).example();
            for (const FeatureView& feature : example) {
              all[nb::str(feature.name().data(), feature.name().size())] =
                  InItsShape(Values(feature, self), example, feature);
            }
            return all;
          },
          nb::lock_self(), nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
          "All features by name.")
      .def(
          "__repr__", [](Record& record) { return ToText(Described(record)); }, nb::lock_self())
      .def_prop_ro("id", &Record::id, "Ordinal in the split.")
      .def_prop_ro(
          "raw",
          [](nb::handle_t<Record> self) { return Array(nb::cast<Record&>(self).payload(), self); },
          nb::for_getter(nb::sig("def raw(self) -> numpy.typing.NDArray[numpy.uint8]")),
          "The tf.train.Example in its wire format, uint8 of shape (bytes,).");
}

}  // namespace recpack::python

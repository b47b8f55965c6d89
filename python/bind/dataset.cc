// Bindings of data sets: access to records by number.
#include "python/objects/dataset.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/bind/bind.h"
#include "python/convert/given.h"
#include "python/convert/given_path.h"
#include "python/convert/text.h"
#include "python/objects/contents.h"
#include "python/objects/record.h"

namespace recpack::python {
namespace nb = nanobind;

namespace {

Dataset Open(const OpenedAs& as) {
  DatasetOptions options;
  options.split = as.split;
  if (!as.fields.empty()) options.fields = ParseFieldMap(as.fields);
  options.label_offset = as.label_offset;
  return as.paths.size() == 1 ? Dataset::Open(as.paths[0], options)
                              : Dataset::Open(as.paths, options);
}

// Negative numbers count from the end, as in Python.
uint64_t Ordinal(const OpenDataset& open, int64_t number) {
  const auto records = static_cast<int64_t>(open.dataset().records());
  if (number < -records || number >= records) {
    throw nb::index_error(
        ("there is no record " + std::to_string(number) + " of " + std::to_string(records))
            .c_str());
  }
  return static_cast<uint64_t>(number < 0 ? number + records : number);
}

// Announces all at once, so that the disk reads them in parallel.
nb::list ReadMany(OpenDataset& open, const std::vector<uint64_t>& ids) {
  std::vector<std::unique_ptr<Record>> records;
  records.reserve(ids.size());
  for (const uint64_t id : ids) records.push_back(std::make_unique<Record>(open.dataset(), id));
  open.WithSource([&](SampleSource& source) {
    const nb::gil_scoped_release unlocked;
    if (!source.InMemory(ids)) source.Advise(ids);
    for (size_t i = 0; i < ids.size(); ++i) {
      records[i]->Holds(source.Read(ids[i], records[i]->memory()));
    }
  });
  nb::list list;
  for (auto& record : records) list.append(nb::cast(std::move(record)));
  return list;
}

nb::list Slice(OpenDataset& open, const nb::slice& slice) {
  auto [start, stop, step, count] = slice.compute(open.dataset().records());
  std::vector<uint64_t> ids(count);
  for (size_t i = 0; i < count; ++i) {
    ids[i] = static_cast<uint64_t>(start + static_cast<Py_ssize_t>(i) * step);
  }
  return ReadMany(open, ids);
}

}  // namespace

std::unique_ptr<Record> ReadOne(OpenDataset& open, uint64_t id) {
  auto record = std::make_unique<Record>(open.dataset(), id);
  open.WithSource([&](SampleSource& source) {
    const nb::gil_scoped_release unlocked;
    record->Holds(source.Read(id, record->memory()));
  });
  return record;
}

OpenDataset::OpenDataset(OpenedAs as) : as_(std::move(as)), dataset_(Open(as_)) {}

std::unique_ptr<SampleSource> OpenDataset::Take() {
  const nb::ft_lock_guard lock(mutex_);
  if (idle_.empty()) {
    RandomAccessOptions options;
    options.verify = as_.verify;
    return dataset_.NewSource(options);
  }
  auto source = std::move(idle_.back());
  idle_.pop_back();
  return source;
}

void OpenDataset::Return(std::unique_ptr<SampleSource> source) {
  const nb::ft_lock_guard lock(mutex_);
  idle_.push_back(std::move(source));
}

void BindDataset(nb::module_& module) {
  nb::class_<OpenDataset>(module, "Dataset")
      .def(
          "__init__",
          [](OpenDataset* self, const std::vector<nb::object>& given, std::string split,
             std::string fields, int64_t label_offset, bool verify) {
            std::vector<std::string> paths;
            paths.reserve(given.size());
            for (const nb::object& path : given) paths.push_back(AbsolutePattern(NameFrom(path)));
            const nb::gil_scoped_release unlocked;
            new (self) OpenDataset(
                {std::move(paths), std::move(split), std::move(fields), label_offset, verify});
          },
          nb::arg("paths"), nb::arg("split") = "", nb::arg("fields") = "",
          nb::arg("label_offset") = 0, nb::arg("verify") = true)
      .def("__len__", [](const OpenDataset& open) { return open.dataset().records(); })
      .def(
          "__getitem__",
          [](OpenDataset& open, int64_t number) { return ReadOne(open, Ordinal(open, number)); },
          nb::arg("number"), "The record of this number; negative ones count from the end.")
      .def("__getitem__", Slice, nb::arg("numbers"),
           nb::sig("def __getitem__(self, numbers: slice) -> list[Record]"), "A list of records.")
      .def(
          "__getitem__",
          [](OpenDataset& open, nb::handle given) {
            const auto numbers =
                Given<std::vector<int64_t>>(given, "the key of a data set",
                                            "the number of a record, a slice, or a list of "
                                            "numbers; open() takes the name of a split");
            std::vector<uint64_t> ids;
            ids.reserve(numbers.size());
            for (const int64_t number : numbers) ids.push_back(Ordinal(open, number));
            return ReadMany(open, ids);
          },
          nb::arg("numbers"),
          nb::sig("def __getitem__(self, numbers: collections.abc.Sequence[int]) -> list[Record]"),
          "Returns the records of a list; from a disk they are read in parallel.")
      .def("_schema", Schema)
      .def("_splits", Splits, nb::call_guard<nb::gil_scoped_release>())
      .def("_sheet", Sheet)
      .def("_opened_as",
           [](const OpenDataset& open) {
             const OpenedAs& as = open.as();
             return std::make_tuple(ToNames(as.paths), as.split, as.fields, as.label_offset,
                                    as.verify);
           })
      .def(
          "place_of",
          [](const OpenDataset& open, nb::handle given) {
            const auto number = Given<int64_t>(given, "place_of(): number", "an integer");
            const Place place = open.dataset().FindPlace(Ordinal(open, number));
            return std::make_tuple(ToName(place.path), place.offset, place.ordinal);
          },
          nb::arg("number"),
          nb::sig("def place_of(self, number: int) -> tuple[str, int "
                  "| None, int | None]"),
          "Path, byte offset and ordinal in the shard of the record of this number.")
      .def(
          "notices", [](const OpenDataset& open) { return ToTexts(open.dataset().Notices()); },
          "Notes about the data set, such as files that were left out; one a line.")
      .def_prop_ro(
          "path", [](const OpenDataset& open) { return ToName(open.dataset().path()); },
          "Absolute paths that were opened.")
      .def_prop_ro(
          "split", [](const OpenDataset& open) { return ToName(open.dataset().split()); },
          "Name of the split.")
      .def_prop_ro(
          "nbytes", [](const OpenDataset& open) { return open.dataset().bytes(); },
          "Bytes of the shards.")
      .def_prop_ro(
          "class_names",
          [](const OpenDataset& open) { return ToNames(open.dataset().class_names()); },
          "Class names by label, from 0; empty if they are unknown.")
      .def_prop_ro(
          "digest", [](const OpenDataset& open) { return open.dataset().digest(); },
          "Tells data sets apart by names, sizes and counts of their shards.");
}

}  // namespace recpack::python

// Bindings of batches: arrays without a copy.
#include "python/objects/batch.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "python/bind/bind.h"
#include "python/convert/given.h"
#include "python/convert/owned_array.h"
#include "python/objects/array.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

HeldArray FindArray(const HeldBatch& held, nb::handle given) {
  const auto name = Given<std::string>(given, "the key of a batch", "the name of an array");
  for (const ArraySpec& spec : held.batch->arrays()) {
    if (spec.name == name) return {held.batch, &spec};
  }
  throw nb::key_error(name.c_str());
}

template <typename T>
nb::object Column(const HeldBatch& held, const std::vector<T>& values) {
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {held.batch->size()},
                                                               MakeKeeper(held.batch)));
}

}  // namespace

void BindBatch(nb::module_& module) {
  nb::class_<HeldBatch>(module, "Batch")
      .def(
          "ndarray",
          [](const HeldBatch& held, nb::handle name) {
            return MakeArray<nb::numpy>(FindArray(held, name));
          },
          nb::arg("name"),
          nb::sig("def ndarray(self, name: str) -> numpy.typing.NDArray[typing.Any]"),
          "The array, shape (samples, ...), over the batch's own memory. NumPy has no bfloat16: "
          "use dlpack() for that.")
      .def("dlpack", FindArray, nb::arg("name"), nb::sig("def dlpack(self, name: str) -> Array"),
           "The array `name` for torch.from_dlpack() and similar functions: an object with "
           "__dlpack__.")
      .def(
          "keys",
          [](const HeldBatch& held) {
            nb::list names;
            for (const ArraySpec& spec : held.batch->arrays()) names.append(spec.name);
            return names;
          },
          nb::sig("def keys(self) -> list[str]"), "Names of the arrays.")
      .def("__len__", [](const HeldBatch& held) { return held.batch->size(); })
      .def_prop_ro("epoch", [](const HeldBatch& held) { return held.batch->epoch(); })
      .def_prop_ro(
          "number", [](const HeldBatch& held) { return held.batch->number(); },
          "Number of the batch in the epoch, counted from where this run began.")
      .def_prop_ro(
          "token", [](const HeldBatch& held) { return held.batch->token(); },
          "Resume token: continue after this batch with Loader(resume=...).")
      .def_prop_ro(
          "ids", [](const HeldBatch& held) { return Column(held, held.batch->ids()); },
          nb::for_getter(nb::sig("def ids(self) -> numpy.typing.NDArray[numpy.uint64]")),
          "Ordinal of each sample's record in the split, uint64 of shape (samples,).")
      .def_prop_ro(
          "sources", [](const HeldBatch& held) { return Column(held, held.batch->views()); },
          nb::for_getter(nb::sig("def sources(self) -> numpy.typing.NDArray[numpy.uint32]")),
          "Number of each sample's source in the mixture, uint32 of shape (samples,).")
      .def_prop_ro(
          "mask", [](const HeldBatch& held) { return Column(held, held.batch->mask()); },
          nb::for_getter(nb::sig("def mask(self) -> numpy.typing.NDArray[numpy.uint8]")),
          "0 where a sample only fills up the last batch, uint8 of shape (samples,).");
}

}  // namespace recpack::python

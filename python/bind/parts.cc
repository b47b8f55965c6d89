// Bindings for parts of a data set that the tasks of a cluster write.
#include "src/pack/parts/parts.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "python/bind/bind.h"

namespace recpack::python {
namespace nb = nanobind;

void BindParts(nb::module_& module) {
  using pack::Parts;
  const nb::call_guard<nb::gil_scoped_release> unlocked;
  nb::class_<Parts>(module, "Parts")
      .def("begin", &Parts::Begin, unlocked)
      .def("refuse_ended", &Parts::RefuseEnded, unlocked)
      .def("staging", &Parts::Staging)
      .def("add", &Parts::Add, nb::arg("folder"), nb::arg("name"), unlocked)
      .def("publish", &Parts::Publish, nb::arg("names"), unlocked)
      .def("discard", &Parts::Discard, unlocked);
  module.def("open_parts", &pack::OpenParts, nb::arg("out"), nb::arg("split"), nb::arg("job"),
             nb::arg("overwrite"));
}

}  // namespace recpack::python

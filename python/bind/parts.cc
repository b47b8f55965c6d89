// Bindings for parts of a data set that the tasks of a cluster write to an object store.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bind/bind.h"
#include "src/pack/store/store_parts.h"

namespace recpack::python {
namespace nb = nanobind;

void BindParts(nb::module_& module) {
  using pack::StoreParts;
  const nb::call_guard<nb::gil_scoped_release> unlocked;
  nb::class_<StoreParts>(module, "StoreParts")
      .def(nb::init<const std::string&, std::string, std::string, bool>(), nb::arg("url"),
           nb::arg("split"), nb::arg("job"), nb::arg("overwrite"))
      .def("begin", &StoreParts::Begin, unlocked)
      .def("refuse_ended", &StoreParts::RefuseEnded, unlocked)
      .def("add", &StoreParts::Add, nb::arg("folder"), nb::arg("name"), unlocked)
      .def("publish", &StoreParts::Publish, nb::arg("names"), unlocked)
      .def("discard", &StoreParts::Discard, unlocked);
}

}  // namespace recpack::python

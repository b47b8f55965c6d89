// Module recpack_io._core, the core of the package recpack_io; see docs/guide/loading-python.md.
#include "python/bind/bind.h"

NB_MODULE(_core, module) {
  using namespace recpack::python;
  BindErrors(module);
  BindRecord(module);
  BindDataset(module);
  BindViews(module);
  BindAudit(module);
  BindFields(module);
  BindFinish(module);
  BindArray(module);
  BindBatch(module);
  BindFunctions(module);
  BindLoader(module);
  BindWriter(module);
  BindPack(module);
  BindParts(module);
  module.def("set_leak_warnings", &nanobind::set_leak_warnings, nanobind::arg("on"),
             "Turns on warnings on stderr about objects that are still alive at exit.");
}

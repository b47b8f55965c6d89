// Functions that add the bindings of each file to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace recpack::python {

void BindErrors(nanobind::module_& module);
void BindRecord(nanobind::module_& module);
void BindDataset(nanobind::module_& module);
void BindViews(nanobind::module_& module);
void BindAudit(nanobind::module_& module);
void BindFields(nanobind::module_& module);
void BindFinish(nanobind::module_& module);
void BindArray(nanobind::module_& module);
void BindBatch(nanobind::module_& module);
void BindFunctions(nanobind::module_& module);
void BindLoader(nanobind::module_& module);
void BindWriter(nanobind::module_& module);
void BindPack(nanobind::module_& module);
void BindParts(nanobind::module_& module);

}  // namespace recpack::python

// Options of packing, taken from the keyword arguments of Python.
#pragma once

#include <nanobind/nanobind.h>

#include "src/pack/job/pack.h"
#include "src/pack/open/open_source.h"

namespace recpack::python {

inline constexpr char kCreatedBy[] = "recpack " RECPACK_VERSION;

// Each removes from `given` what it takes, and throws like Take().
WriterOptions TakeWriterOptions(nanobind::dict& given);
pack::SourceFlags TakeSourceFlags(nanobind::dict& given);
pack::PackOptions TakePackOptions(nanobind::dict& given);

}  // namespace recpack::python

// Bindings of audits: which records an epoch delivered.
#include "recpack/loader/audit.h"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/bind/bind.h"
#include "python/convert/text.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

// Members of recpack_io.AuditReport, in order.
nb::tuple Check(const EpochAudit& audit, const Mixture& mixture, size_t most_listed) {
  AuditReport report;
  {
    const nb::gil_scoped_release unlocked;
    report = CheckAudit(mixture, audit, most_listed);
  }
  nb::list differences;
  for (const AuditDifference& each : report.differences) {
    differences.append(nb::make_tuple(each.view, each.id, each.expected, each.delivered));
  }
  return nb::make_tuple(report.holds, report.samples, report.epoch_samples, report.substituted,
                        report.has_differences, report.differing, differences);
}

}  // namespace

void BindAudit(nb::module_& module) {
  nb::class_<EpochAudit>(module, "Audit")
      .def_static("_parse", &EpochAudit::Parse)
      .def_static("_load", [](nb::handle path) { return EpochAudit::Load(NameFrom(path)); })
      .def(
          "_save", [](const EpochAudit& audit, nb::handle path) { audit.Save(NameFrom(path)); },
          nb::lock_self())
      .def("_merge", &EpochAudit::Merge, nb::lock_self())
      .def("_check", Check, nb::lock_self())
      .def("_text", &EpochAudit::Text, nb::lock_self())
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def_prop_ro(
          "epoch", [](const EpochAudit& audit) { return audit.key().epoch; }, "Its epoch.")
      .def_prop_ro(
          "seed", [](const EpochAudit& audit) { return audit.key().seed; }, "The loader's seed.")
      .def_prop_ro("samples", &EpochAudit::samples, "Samples delivered, without padding.")
      .def_prop_ro("substituted", &EpochAudit::substituted,
                   "Samples that replaced a corrupt record.")
      .def_prop_ro("has_counts", &EpochAudit::has_counts,
                   "True if it can name the records that are missing or repeated.");
}

}  // namespace recpack::python

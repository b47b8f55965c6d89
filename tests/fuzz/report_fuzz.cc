// Fuzzes report.json: it is refused, or can be merged and compared.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "recpack/base/error.h"
#include "src/probe/report/compare.h"
#include "src/probe/report/merge.h"

namespace {

void Check(const recpack::probe::KeptReport& report) {
  const recpack::probe::Merge merge = recpack::probe::MergeReports({{report}, {}});
  if (merge.jobs.size() != 1) std::abort();
  const recpack::probe::MergedJob& job = merge.jobs.front();
  if (!(job.hours >= 0)) std::abort();
  if (job.lost && !(job.lost->low <= job.lost->value && job.lost->value <= job.lost->high)) {
    std::abort();
  }
  if (recpack::probe::MergeText(merge).empty() || recpack::probe::MergeJson(merge).empty())
    std::abort();
  const recpack::probe::Comparison comparison = recpack::probe::CompareReports(report, report);
  for (const recpack::probe::Change& change : comparison.changes) {
    if (change.sure()) std::abort();  // both reports are the same
  }
  if (recpack::probe::CompareText(comparison).empty() ||
      recpack::probe::CompareJson(comparison).empty()) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = ::memfd_create("report", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  try {
    Check(
        recpack::probe::ReadReport(recpack::PosixFiles(), "/proc/self/fd/" + std::to_string(file)));
  } catch (const recpack::Error& error) {
    const bool refusal = error.kind() == recpack::ErrorKind::kCorrupt ||
                         error.kind() == recpack::ErrorKind::kUnsupported;
    if (!refusal) throw;
  }
  return 0;
}

// Any text as a report.json: refused, or a report whose verdict is the same after writing and
// reading it.
#include <cstdlib>
#include <string>

#include "recpack/base/error.h"
#include "recpack/probe/report.h"
#include "recpack/probe/show.h"

namespace {

void Check(const std::string& text) {
  const recpack::KeptReport read = recpack::ReportFromJson(text, "report.json");
  recpack::Report again;
  again.job = read.job;
  again.verdict = read.verdict;
  const recpack::KeptReport second =
      recpack::ReportFromJson(recpack::ReportJson(again), "report.json");
  if (recpack::VerdictJson(second.verdict) != recpack::VerdictJson(read.verdict)) std::abort();
  if (second.job.command != read.job.command || second.job.begin != read.job.begin) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    Check(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const recpack::Error& error) {
    const bool refusal = error.kind() == recpack::ErrorKind::kCorrupt ||
                         error.kind() == recpack::ErrorKind::kUnsupported;
    if (!refusal) throw;
  }
  return 0;
}

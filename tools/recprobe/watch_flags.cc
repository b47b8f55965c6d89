#include "tools/recprobe/watch_flags.h"

#include <cstdio>

#include "src/base/parse_units.h"
#include "src/probe/verdict/verdict.h"
#include "tools/recprobe/trace_show.h"

namespace recpack::tool {
namespace {

constexpr size_t kRows = 25;  // per table of a trace

// Adds the member "loader" to a JSON object.
std::string WithLoader(const std::string& json, const std::optional<probe::LoaderUse>& use) {
  if (!use) return json;
  return json.substr(0, json.rfind('}')) + ",\"loader\":" + probe::LoaderUseJson(*use) + "}";
}

}  // namespace

std::chrono::nanoseconds WatchFlags::interval() const {
  return std::chrono::nanoseconds(static_cast<int64_t>(1e9 / rate));
}

void AddWatchFlags(CLI::App& command, WatchFlags& flags) {
  command.add_option("--rate", flags.rate, "Samples per second.")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1000.0));
  command.add_flag("--json", flags.json, "Print the verdict as one JSON object to stdout.");
  AddReportFlag(command, flags.report);
}

void AddFailAbove(CLI::App& command, WatchFlags& flags) {
  command.add_option_function<std::string>(
      "--fail-above", [&flags](const std::string& text) { flags.fail_above = ParseShare(text); },
      "Exit with 1 if waits for input surely take more of the step time than this share (5% or "
      "0.05), judged by the lower end of the interval.");
}

int ShowVerdict(const probe::Verdict& verdict, const std::optional<probe::LoaderUse>& use,
                const WatchFlags& flags, const probe::TraceSummary* trace) {
  if (flags.json) {
    const std::string json =
        trace != nullptr ? probe::TraceJson(verdict, *trace) : probe::VerdictJson(verdict);
    std::printf("%s\n", WithLoader(json, use).c_str());
    std::fflush(stdout);
  } else {
    const std::string loader = use ? "\n" + probe::LoaderUseText(*use) : "";
    const std::string tables = trace != nullptr ? TraceText(*trace, kRows) : "";
    std::fprintf(stderr, "%s%s%s", probe::VerdictText(verdict).c_str(), loader.c_str(),
                 tables.c_str());
  }
  if (!flags.fail_above) return kDone;
  if (verdict.band == probe::Band::kUnknown) {
    std::fputs("recprobe: --fail-above was not checked: waits for input were not seen\n", stderr);
    return kDone;
  }
  if (!verdict.enough_steps()) {
    std::fprintf(stderr, "recprobe: --fail-above was not checked: %zu steps are too few\n",
                 verdict.steps);
    return kDone;
  }
  return verdict.input_share.low > *flags.fail_above ? kFinding : kDone;
}

}  // namespace recpack::tool

// recpack verify: checks CRCs, Examples, index and manifest of a data set.
#include <cstdio>
#include <memory>

#include "src/pack/check/verify.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"

namespace recpack::tool {
namespace {

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json ToJson(const pack::VerifyResult& result) {
  Json json = {{"records", result.records}, {"bytes", result.bytes}, {"findings", Json::array()}};
  for (const auto& finding : result.findings) {
    json["findings"].push_back({{"path", finding.path},
                                {"offset", OrNull(finding.offset)},
                                {"ordinal", OrNull(finding.ordinal)},
                                {"reason", finding.reason}});
  }
  return json;
}

void Print(const pack::VerifyResult& result) {
  for (const auto& finding : result.findings) {
    std::printf("%s", finding.path.c_str());
    if (finding.offset) std::printf(" at byte %s", std::to_string(*finding.offset).c_str());
    if (finding.ordinal) std::printf(" (record %s)", std::to_string(*finding.ordinal).c_str());
    std::printf(": %s\n", finding.reason.c_str());
  }
  std::printf(
      "%s, %s: %s\n", Counted(result.records, "record").c_str(), BytesText(result.bytes).c_str(),
      result.findings.empty() ? "all is well" : Counted(result.findings.size(), "finding").c_str());
}

}  // namespace

void AddVerify(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string path;
    std::string split;
    pack::VerifyOptions options;
    bool quiet = false;
    bool json = false;
  };
  CLI::App* verify = app.add_subcommand("verify", "Check all CRCs, parses, digests and images");
  auto flags = std::make_shared<Flags>();
  verify->footer(
      "Exit code 1 if there are findings.\n"
      "Examples:\n  recpack verify shards\n  recpack verify shards --decode --json");
  verify->add_option("DATA", flags->path, "A folder of shards, a shard, or a pattern")->required();
  verify->add_option("--split", flags->split, "Only this split");
  verify->add_option("--threads", flags->options.threads, "Threads (default: all)")
      ->check(ThreadCount());
  verify->add_flag("--decode", flags->options.decode, "Also decode the images, and parse sounds");
  verify->add_flag("--quiet", flags->quiet, "Print nothing; use the exit code");
  verify->add_flag("--json", flags->json, "Print one JSON object");
  verify->callback([flags, &exit_code] {
    Layout layout = FindLayout(flags->path);
    if (!flags->split.empty()) layout = OnlySplit(std::move(layout), flags->split);
    ProgressBar bar("verifying", flags->quiet, layout);
    flags->options.progress = [&](uint64_t bytes) { bar.Update(bytes); };
    const pack::VerifyResult result = pack::Verify(layout, flags->options);
    bar.Clear();
    if (flags->json) {
      PrintJson(ToJson(result));
    } else if (!flags->quiet) {
      Print(result);
    }
    exit_code = result.findings.empty() ? kDone : kFinding;
  });
}

}  // namespace recpack::tool

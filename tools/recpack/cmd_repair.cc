// recpack repair: saves the intact records of damaged shards.
#include <cstdio>
#include <memory>

#include "src/pack/check/repair.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"

namespace recpack::tool {
namespace {

Json LostJson(const std::vector<pack::LostRecords>& lost) {
  Json list = Json::array();
  for (const auto& piece : lost) {
    list.push_back({{"path", piece.path},
                    {"offset", piece.offset},
                    {"end", piece.end},
                    {"ordinal", piece.ordinal},
                    {"records", piece.records ? Json(*piece.records) : Json("unknown")},
                    {"reason", piece.reason}});
  }
  return list;
}

void Print(const pack::RepairResult& result, const std::string& out) {
  for (const auto& lost : result.lost) {
    std::printf(
        "lost: %s at byte %s (record %s), %s: %s\n", lost.path.c_str(),
        std::to_string(lost.offset).c_str(), std::to_string(lost.ordinal).c_str(),
        lost.records ? Counted(*lost.records, "record").c_str() : "an unknown number of records",
        lost.reason.c_str());
  }
  std::printf("saved %s, %s, in %s; %s lost, listed in %s\n",
              Counted(result.records, "record").c_str(), BytesText(result.bytes).c_str(),
              out.c_str(), Counted(result.lost.size(), "piece").c_str(), pack::kLedgerName);
}

}  // namespace

void AddRepair(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string path;
    pack::RepairOptions options;
    bool quiet = false;
    bool json = false;
  };
  CLI::App* repair = app.add_subcommand("repair", "Save the intact records of damaged shards");
  auto flags = std::make_shared<Flags>();
  repair->footer(
      "Exit code 1 if records were lost.\n"
      "Examples:\n  recpack repair damaged saved\n  recpack repair damaged saved --json");
  repair->add_option("SRC", flags->path, "The damaged shards; they are not changed")->required();
  repair->add_option("OUT", flags->options.out, "A new folder")->required();
  repair->add_option("--threads", flags->options.threads, "Threads (default: all)")
      ->check(ThreadCount());
  repair->add_flag("--quiet", flags->quiet, "Print errors only");
  repair->add_flag("--json", flags->json, "Print one JSON object");
  repair->callback([flags, &exit_code] {
    const Layout layout = FindDamagedLayout(flags->path);
    if (!flags->quiet) PrintNotices(layout);
    ProgressBar bar("repairing", flags->quiet, layout);
    flags->options.progress = [&](uint64_t bytes) { bar.Update(bytes); };
    const pack::RepairResult result = pack::Repair(layout, flags->options);
    bar.Clear();
    if (flags->json) {
      PrintJson(
          {{"records", result.records}, {"bytes", result.bytes}, {"lost", LostJson(result.lost)}});
    } else if (!flags->quiet) {
      Print(result, flags->options.out);
    }
    exit_code = result.lost.empty() ? kDone : kFinding;
  });
}

}  // namespace recpack::tool

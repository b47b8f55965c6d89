// recpack audit: checks that an epoch delivered the right samples.
#include <cstdio>
#include <memory>

#include "recpack/loader/audit.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"
#include "tools/recpack/samples_flags.h"

namespace recpack::tool {
namespace {

struct AuditFlags {
  SamplesFlags samples;
  std::vector<std::string> files;
  uint64_t limit = 20;
  int threads = 0;
  bool json = false;
};

Json ToJson(const AuditKey& key, const AuditReport& report) {
  Json json = {{"epoch", key.epoch},
               {"seed", key.seed},
               {"order", OrderText(key.order)},
               {"samples", report.samples},
               {"epoch_samples", report.epoch_samples},
               {"substituted", report.substituted},
               {"holds", report.holds}};
  if (!report.has_differences) return json;
  json["differing"] = report.differing;
  json["differences"] = Json::array();
  for (const AuditDifference& each : report.differences) {
    json["differences"].push_back({{"view", each.view},
                                   {"record", each.id},
                                   {"expected", each.expected},
                                   {"delivered", each.delivered}});
  }
  return json;
}

void Print(const Mixture& samples, const AuditKey& key, const AuditReport& report) {
  for (const AuditDifference& each : report.differences) {
    std::printf("%s: record %s: delivered %u, should be %u\n",
                samples.views()[each.view].dataset().path().c_str(),
                std::to_string(each.id).c_str(), each.delivered, each.expected);
  }
  if (report.differing > report.differences.size()) {
    std::printf("and %s more\n",
                Counted(report.differing - report.differences.size(), "record").c_str());
  }
  if (!report.holds && !report.has_differences) {
    std::printf("the sums differ; audits with counts would name the records\n");
  }
  const char* const verdict = !report.holds ? "not the samples of the epoch"
                              : report.samples < report.epoch_samples
                                  ? "all is well up to there, the rest was not delivered"
                                  : "all is well";
  std::printf("epoch %s: %s of %s, %s substituted: %s\n", std::to_string(key.epoch).c_str(),
              CountText(report.samples).c_str(), Counted(report.epoch_samples, "sample").c_str(),
              CountText(report.substituted).c_str(), verdict);
}

}  // namespace

void AddAudit(CLI::App& app, int& exit_code) {
  CLI::App* audit = app.add_subcommand("audit", "Check that an epoch delivered what it should");
  auto flags = std::make_shared<AuditFlags>();
  audit->footer(
      "Give the audit files of all ranks for one epoch, and the flags that define the samples.\n"
      "The delivered samples must be the first ones of the epoch: all of them, unless a last\n"
      "batch was dropped. Exit code 1 if they are not.\n\n"
      "Examples:\n"
      "  recpack audit shards rank0.audit rank1.audit\n"
      "  recpack audit shards rank*.audit --limit 5 --json");
  AddSamplesFlags(*audit, flags->samples);
  audit->add_option("FILE", flags->files, "Audit files, one per rank")->required();
  audit->add_option("--limit", flags->limit, "Records to list (default 20)")
      ->check(WholeNumberIn(0));
  audit->add_option("--threads", flags->threads, "Threads (default: all)")->check(ThreadCount());
  audit->add_flag("--json", flags->json, "Print one JSON object");
  audit->callback([flags, &exit_code] {
    const Mixture samples = OpenSamples(flags->samples);
    EpochAudit all = EpochAudit::Load(flags->files.front());
    for (size_t i = 1; i < flags->files.size(); ++i) all.Merge(EpochAudit::Load(flags->files[i]));
    const AuditReport report = CheckAudit(samples, all, flags->limit, flags->threads);
    if (flags->json) {
      PrintJson(ToJson(all.key(), report));
    } else {
      Print(samples, all.key(), report);
    }
    exit_code = report.holds ? kDone : kFinding;
  });
}

}  // namespace recpack::tool

// recpack index: makes an index for shards that have none.
#include <cstdio>
#include <memory>

#include "src/shards/index/build_index.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"

namespace recpack::tool {

void AddIndex(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string path;
    BuildIndexOptions options;
    bool no_verify = false;
    bool quiet = false;
    bool json = false;
  };
  CLI::App* index = app.add_subcommand("index", "Make an index of shards by reading them once");
  auto flags = std::make_shared<Flags>();
  index->footer(
      "Examples:\n  recpack index shards\n  recpack index 'others/*.tfrecord' --out cache\n"
      "  recpack index shards --dali-index");
  index->add_option("DATA", flags->path, "A folder of shards, a shard, or a pattern")->required();
  index->add_option("--out", flags->options.out,
                    "Folder for the index (default: the folder of each shard)");
  index->add_option("--threads", flags->options.threads, "Threads (default: all)")
      ->check(ThreadCount());
  index->add_flag("--dali-index", flags->options.dali, "Also write SHARD.idx for NVIDIA DALI");
  index->add_flag("--no-verify", flags->no_verify, "Do not check the CRCs of payloads");
  index->add_flag("--quiet", flags->quiet, "Print errors only");
  index->add_flag("--json", flags->json, "Print one JSON object");
  index->callback([flags, &exit_code] {
    const Layout layout = FindLayout(flags->path);
    if (!flags->quiet) NoteUnfinished(layout);
    flags->options.verify = !flags->no_verify;
    ProgressBar bar("indexing", flags->quiet, layout);
    flags->options.progress = [&](uint64_t bytes) { bar.Update(bytes); };
    const auto indexes = BuildIndexes(layout, flags->options);
    bar.Clear();
    Json json = {{"indexes", Json::array()}};
    for (const auto& built : indexes) {
      json["indexes"].push_back(
          {{"path", built.path}, {"shards", built.shards}, {"records", built.records}});
      if (flags->json || flags->quiet) continue;
      std::printf("%s: %s in %s\n", built.path.c_str(), Counted(built.records, "record").c_str(),
                  Counted(built.shards, "shard").c_str());
    }
    if (flags->json) PrintJson(json);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool

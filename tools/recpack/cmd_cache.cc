// recpack cache: shows and clears what is kept of remote data sets on this machine.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "src/remote/store/disk_cache.h"
#include "src/remote/store/local_copy.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"

namespace recpack::tool {
namespace {

namespace fs = std::filesystem;

// Copies of indexes.
remote::DiskCacheUse CopiesUse(bool remove) {
  remote::DiskCacheUse use;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(remote::CopiesFolder(), ignored)) {
    const bool is_copy = entry.path().extension() != ".version";
    const uint64_t bytes = entry.file_size(ignored);
    if (remove && !fs::remove(entry.path(), ignored)) continue;
    use.objects += is_copy ? 1 : 0;
    use.bytes += is_copy ? bytes : 0;
  }
  return use;
}

Json ToJson(const remote::DiskCacheUse& use) {
  return {{"objects", use.objects}, {"bytes", use.bytes}};
}

void Print(const char* what, const remote::DiskCacheUse& use) {
  std::printf("%-8s %18s  %10s", what, Counted(use.objects, "object").c_str(),
              BytesText(use.bytes).c_str());
}

}  // namespace

void AddCache(CLI::App& app, int& exit_code) {
  struct Flags {
    bool clear = false;
    bool json = false;
  };
  CLI::App* cache =
      app.add_subcommand("cache", "Show or clear what is kept of remote data sets on this machine");
  auto flags = std::make_shared<Flags>();
  cache->footer(
      "RECPACK_CACHE_BYTES (such as 50GB) sets the limit of the records that are kept; without it "
      "none are. The folder is RECPACK_CACHE, or ~/.cache/recpack.\n\n"
      "Examples:\n  recpack cache --json\n  recpack cache --clear");
  cache->add_flag("--clear", flags->clear, "Remove what no process has open");
  cache->add_flag("--json", flags->json, "Print one JSON object");
  cache->callback([flags, &exit_code] {
    const auto limit = remote::DiskCache::Limit();
    const auto data = flags->clear ? remote::DiskCache::Clear() : remote::DiskCache::Use();
    const auto indexes = CopiesUse(flags->clear);
    exit_code = kDone;
    if (flags->json) {
      PrintJson({{"folder", remote::CacheFolder()},
                 {"cleared", flags->clear},
                 {"records", ToJson(data)},
                 {"indexes", ToJson(indexes)},
                 {"limit_bytes", limit ? Json(*limit) : Json()}});
      return;
    }
    std::printf("%s%s\n", flags->clear ? "removed from " : "", remote::CacheFolder().c_str());
    Print("records", data);
    std::printf(limit ? "  of %s\n" : "%s\n", limit ? BytesText(*limit).c_str() : "");
    Print("indexes", indexes);
    std::printf("\n");
  });
}

}  // namespace recpack::tool

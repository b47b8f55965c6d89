#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <utility>

#include "recpack/base/cpu.h"
#include "recpack/base/error.h"
#include "recpack/record/compression.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/probe/doctor/ceilings.h"
#include "src/probe/doctor/machine.h"
#include "src/shards/layout/layout.h"
#include "tools/recprobe/command.h"
#include "tools/some_jpegs.h"
#include "tools/store_link.h"

namespace recpack::tool {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kStale = 24 * 3600;            // seconds
constexpr uint64_t kEnough = uint64_t{4} << 30;  // bytes of files to read from
constexpr size_t kMostFiles = 256;

struct DoctorFlags {
  std::string data;
  std::string store;
  double seconds = 30;
  bool fresh = false;
  bool keep = true;
  bool json = false;
};

// Data to measure with: the shards of a data set, else other files.
struct Data {
  std::vector<std::string> files;
  std::vector<ByteBuffer> pictures;
  std::string compressed;
};

// Collects readable files until there are enough.
class SomeFiles {
 public:
  void Add(const fs::path& path) {
    std::error_code code;
    const uint64_t size = fs::is_regular_file(path, code) ? fs::file_size(path, code) : 0;
    if (code || size == 0 || is_enough() || ::access(path.c_str(), R_OK) != 0) return;
    bytes_ += size;
    paths_.push_back(path);
  }
  // Adds a file, or all files below a folder. Skips folders without permission.
  void AddAll(const fs::path& path) {
    Add(path);
    std::error_code code;
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, code);
    for (; !code && at != fs::recursive_directory_iterator() && !is_enough(); at.increment(code)) {
      Add(at->path());
    }
  }
  bool empty() const noexcept { return paths_.empty(); }
  std::vector<std::string> Take() { return std::move(paths_); }

 private:
  bool is_enough() const noexcept { return bytes_ > kEnough || paths_.size() >= kMostFiles; }

  uint64_t bytes_ = 0;
  std::vector<std::string> paths_;
};

std::vector<std::string> ListFiles(const std::string& path) {
  SomeFiles files;
  try {
    for (const LayoutSplit& split : FindLayout(path).splits) {
      for (const std::string shard : split.shards) files.Add(shard);
    }
  } catch (const Error&) {  // no shards
  }
  if (files.empty()) files.AddAll(path);
  return files.Take();
}

std::string FindCompressed(const std::vector<std::string>& files) {
  try {
    const RecordReader reader(PosixFiles().OpenForReading(files.front()), {});
    return reader.compression() == Compression::kNone ? "" : files.front();
  } catch (const Error&) {
    return "";
  }
}

Data FindData(const std::string& path) {
  if (path.empty()) return {};
  if (!fs::exists(path)) {
    throw Error(ErrorKind::kNotFound, "does not exist", {.path = path},
                "name a folder of shards, a shard, or a folder on the storage to measure");
  }
  Data data{.files = ListFiles(path)};
  if (data.files.empty()) return data;
  data.compressed = FindCompressed(data.files);
  try {
    data.pictures = SomeJpegs(Dataset::Open(path));
  } catch (const Error& error) {
    std::fprintf(stderr, "recprobe: the data's pictures are not measured: %s\n", error.what());
  }
  return data;
}

std::string StorageFolder(const std::string& path) {
  if (path.empty()) return ".";
  if (fs::is_directory(path)) return path;
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string StorageKey(const probe::MachineStorage& storage) {
  if (!storage.file_system) return storage.path;
  return format("{} on {} at {}", *storage.file_system, *storage.source, *storage.mount_point);
}

// Limits the memory used, so that a container with little memory is not killed.
size_t MemoryFor(const probe::MachineMemory& memory) {
  constexpr uint64_t kShare = 4;
  const uint64_t most = std::min(memory.available ? *memory.available : UINT64_MAX,
                                 memory.limit ? *memory.limit : UINT64_MAX);
  return static_cast<size_t>(std::min<uint64_t>(most / kShare, ceiling::CeilingOptions::kMemory));
}

probe::Ceilings CeilingsFor(const DoctorFlags& flags, const probe::Machine& machine) {
  const std::string storage = StorageKey(machine.storage);
  const std::string data = flags.data.empty() ? "" : fs::canonical(flags.data).string();
  const auto kept = flags.fresh ? std::nullopt : probe::KeptCeilings("", storage);
  const int64_t age = kept ? static_cast<int64_t>(std::time(nullptr)) - kept->measured_at : 0;
  const bool fresh = age >= 0 && age < kStale;  // negative if the clock was set back
  if (kept && fresh && (data.empty() || kept->data == data)) {
    return *kept;
  }
  const Data with = FindData(flags.data);
  probe::Ceilings ceilings =
      probe::MeasureCeilings({.files = with.files,
                              .folder = StorageFolder(flags.data),
                              .pictures = with.pictures,
                              .compressed = with.compressed,
                              .cores = AvailableThreads(),
                              .memory = MemoryFor(machine.memory),
                              .time = std::chrono::duration<double>(flags.seconds)});
  ceilings.machine = probe::MachineKey();
  ceilings.storage = storage;
  ceilings.data = data;
  if (!flags.keep) return ceilings;
  try {
    probe::KeepCeilings(ceilings);
  } catch (const Error& error) {
    std::fprintf(stderr, "recprobe: the ceilings are not kept: %s\n", error.what());
  }
  return ceilings;
}

std::string AgeText(const probe::Ceilings& ceilings) {
  const auto age = static_cast<int64_t>(std::time(nullptr)) - ceilings.measured_at;
  if (age < 60) return "";
  return format("\nThe ceilings were measured {} min ago; --fresh measures them again.\n",
                age / 60);
}

int MeasureStore(const DoctorFlags& flags) {
  const StoreLink link = MeasureLink(flags.store, std::chrono::duration<double>(flags.seconds));
  if (flags.json) {
    PrintJson(Json{{"link", LinkJson(link)}});
  } else {
    std::printf("%s", LinkText(link).c_str());
  }
  return kDone;
}

int RunDoctor(const DoctorFlags& flags) {
  if (!flags.store.empty()) return MeasureStore(flags);
  if (!flags.data.empty() && !fs::exists(flags.data)) FindData(flags.data);  // throws
  const probe::Machine machine =
      probe::ReadMachine({.data = flags.data.empty() ? "." : flags.data});
  const std::vector<probe::MachineFinding> findings = probe::CheckMachine(machine);
  if (!flags.json) {  // show the findings before the measurements, which take time
    std::printf("%s\n%s\n", probe::FindingsText(findings).c_str(),
                probe::MachineText(machine).c_str());
    std::fflush(stdout);
  }
  const probe::Ceilings ceilings = CeilingsFor(flags, machine);
  if (flags.json) {
    std::printf("{\"machine\": %s, \"ceilings\": %s}\n", probe::MachineJson(machine).c_str(),
                probe::CeilingsJson(ceilings).c_str());
  } else {
    std::printf("%s%s", probe::CeilingsText(ceilings).c_str(), AgeText(ceilings).c_str());
  }
  return std::ranges::any_of(findings, &probe::MachineFinding::surely) ? kFinding : kDone;
}

}  // namespace

void AddDoctor(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "doctor", "Check this machine for problems, and measure its ceilings (best rates).");
  const auto flags = std::make_shared<DoctorFlags>();
  command.footer(
      "Ceilings are cached in $XDG_CACHE_HOME/recpack (~/.cache/recpack) for a day, one file per\n"
      "machine and storage; `recprobe run` shows a loader's stages as shares of them. Exit code 1\n"
      "if a finding marked with ! surely slows down or breaks training. See\n"
      "docs/reference/doctor.md.\n\n"
      "Examples:\n"
      "  recprobe doctor --data shards\n"
      "  recprobe doctor --fresh --seconds 5 --json\n"
      "  recprobe doctor --store s3://bucket/data --seconds 5");
  command.add_option("--data", flags->data,
                     "Shards or files that a training reads, to measure their storage and pictures "
                     "(default: the storage of the current folder, and synthetic pictures).");
  command
      .add_option("--store", flags->store,
                  "Instead, measure the link to this store (s3://, gs:// or https://): ranges of "
                  "several sizes, several at a time.")
      ->excludes("--data");
  command
      .add_option("--seconds", flags->seconds,
                  "Approximate maximum time for the ceilings, or for the link.")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  command.add_flag("--fresh", flags->fresh, "Measure again instead of using cached ceilings.");
  command.add_flag("!--no-keep", flags->keep, "Do not cache the ceilings.");
  command.add_flag("--json", flags->json, "Print one JSON object.");
  command.callback([flags, &exit_code] { exit_code = RunDoctor(*flags); });
}

}  // namespace recpack::tool

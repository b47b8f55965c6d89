#include "src/pack/job/stale_files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "recpack/base/file_lock.h"
#include "recpack/base/temporaries.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

// Returns the task that writes a file of the state folder; nullopt for files that all tasks write.
std::optional<uint32_t> FindTask(std::string_view name, const Plan& plan, uint32_t tasks) {
  if (name.ends_with(".json")) name.remove_suffix(5);  // a sidecar
  const auto shard = plan.shards.files().Find(name);
  if (!shard) return {};
  return static_cast<uint32_t>(*shard % tasks);
}

// Index and manifest files. Files of others may lie beside the shards.
bool IsFinishersFile(const std::string& name) {
  return name == kManifestName || name.ends_with(".tfrecord.idx");
}

}  // namespace

void RemoveStaleTemporaries(const Plan& plan, const PackFolder& folder,
                            const PackOptions& options) {
  RemoveTemporaries(options.out + "/" + kStateFolder, [&](const std::string& name) {
    const auto task = FindTask(name, plan, options.tasks);
    return !task || *task == options.task || TryLock(folder.TaskLockPath(*task));
  });
  RemoveTemporaries(options.out, IsFinishersFile);
}

}  // namespace recpack::pack

#include "src/pack/job/pack_settings.h"

namespace recpack::pack {

std::map<std::string, std::string> AllSettings(const std::string& kind,
                                               const PackOptions& options) {
  auto settings = options.settings;
  settings["from"] = kind;
  settings["shard-size"] = std::to_string(options.plan.shard_bytes);
  settings["shards"] = std::to_string(options.plan.shards);
  settings["limit"] = std::to_string(options.plan.limit);
  settings["shuffle"] =
      options.plan.shuffle_seed ? std::to_string(*options.plan.shuffle_seed) : "off";
  settings["compression"] = CompressionName(options.writer.compression);
  if (options.writer.compression != Compression::kNone) {
    settings["level"] = std::to_string(options.writer.level);
  }
  settings["tasks"] = std::to_string(options.tasks);
  return settings;
}

}  // namespace recpack::pack

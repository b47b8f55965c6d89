#include "src/train/checkpoint/checkpoint_metadata.h"

#include <charconv>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

constexpr char kFormat[] = "recpack-checkpoint";
constexpr uint64_t kVersion = 1;
// Optional keys.
constexpr char kAudit[] = "loader_audit";
constexpr char kEvalRecipe[] = "eval_recipe";
constexpr char kScheduleEpochs[] = "schedule_epochs";
constexpr char kEpochSteps[] = "epoch_steps";
// Prefixes of the keys of sums and programs.
constexpr std::string_view kSumPrefix = "sum.";
constexpr std::string_view kVersionPrefix = "version.";

// The shortest text that parses to the same bits; also "nan", "inf" and "-inf".
std::string NumberText(double number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

class Reader {
 public:
  Reader(const ArrayMetadata& metadata, const std::string& path)
      : metadata_(metadata), path_(path) {}

  void CheckFormat() const {
    const auto format_name = metadata_.find("format");
    if (format_name == metadata_.end() || format_name->second != kFormat) {
      throw Error(ErrorKind::kInvalidArgument, "contains arrays, but is not a checkpoint of a run",
                  {.path = path_}, "name a file that rectrain wrote");
    }
    const auto version = Number<uint64_t>("format_version");
    if (version == kVersion) return;
    throw Error(ErrorKind::kUnsupported,
                format("has format version {}, this recpack reads {}", version, kVersion),
                {.path = path_}, "install a newer recpack");
  }

  const std::string& Text(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) Damaged(format("lacks \"{}\" in its metadata", key));
    return found->second;
  }

  template <typename T>
  T Number(const std::string& key) const {
    const std::string& text = Text(key);
    T number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc() && end == text.data() + text.size()) return number;
    Damaged(format("gives \"{}\" as '{}', which is not a number", key, text));
  }

  // Calls `take` with each matching key and its part after `prefix`.
  template <typename Take>
  void WithPrefix(std::string_view prefix, Take take) const {
    for (auto at = metadata_.lower_bound(std::string(prefix));
         at != metadata_.end() && at->first.starts_with(prefix); ++at) {
      take(at->first, at->first.substr(prefix.size()));
    }
  }

 private:
  [[noreturn]] void Damaged(const std::string& reason) const {
    throw Error(ErrorKind::kCorrupt, reason, {.path = path_}, "take another checkpoint");
  }

  const ArrayMetadata& metadata_;
  const std::string& path_;
};

}  // namespace

ArrayMetadata ToMetadata(const CheckpointInfo& info) {
  ArrayMetadata metadata = {{"format", kFormat},
                            {"format_version", std::to_string(kVersion)},
                            {"model", info.model},
                            {"model_options", info.model_options},
                            {"step", std::to_string(info.step)},
                            {"epoch", std::to_string(info.epoch)},
                            {"seed", std::to_string(info.seed)},
                            {"loader_token", info.loader_token}};
  if (!info.loader_audit.empty()) metadata[kAudit] = info.loader_audit;
  if (!info.eval_recipe.empty()) metadata[kEvalRecipe] = info.eval_recipe;
  if (info.schedule_epochs > 0) {
    metadata[kScheduleEpochs] = std::to_string(info.schedule_epochs);
    metadata[kEpochSteps] = std::to_string(info.epoch_steps);
  }
  for (const auto& [name, sum] : info.sums) {
    metadata[std::string(kSumPrefix) + name] = NumberText(sum);
  }
  for (const auto& [program, version] : info.versions) {
    metadata[std::string(kVersionPrefix) + program] = version;
  }
  return metadata;
}

CheckpointInfo FromMetadata(const ArrayMetadata& metadata, const std::string& path) {
  const Reader reader(metadata, path);
  reader.CheckFormat();
  CheckpointInfo info{.model = reader.Text("model"),
                      .model_options = reader.Text("model_options"),
                      .step = reader.Number<uint64_t>("step"),
                      .epoch = reader.Number<uint64_t>("epoch"),
                      .seed = reader.Number<uint64_t>("seed"),
                      .loader_token = reader.Text("loader_token")};
  if (const auto audit = metadata.find(kAudit); audit != metadata.end()) {
    info.loader_audit = audit->second;
  }
  if (metadata.contains(kEvalRecipe)) info.eval_recipe = reader.Text(kEvalRecipe);
  if (metadata.contains(kScheduleEpochs)) {
    info.schedule_epochs = reader.Number<uint64_t>(kScheduleEpochs);
    info.epoch_steps = reader.Number<uint64_t>(kEpochSteps);
  }
  reader.WithPrefix(kSumPrefix, [&](const auto& key, const auto& name) {
    info.sums[name] = reader.Number<double>(key);
  });
  reader.WithPrefix(kVersionPrefix, [&](const auto& key, const auto& name) {
    info.versions[name] = reader.Text(key);
  });
  return info;
}

}  // namespace recpack::train

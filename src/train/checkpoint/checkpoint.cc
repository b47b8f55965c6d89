#include "src/train/checkpoint/checkpoint.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/train/checkpoint/checkpoint_metadata.h"

namespace recpack::train {
namespace {

constexpr size_t kShown = 6;  // differences in a message

std::string TypeAndShape(const NamedArray& array) {
  return format("{} {}", ElementName(array.type),
                array.shape.empty() ? "scalar" : ShapeText(array.shape));
}

// Values per option; the whole text as one value if it is not a flat JSON object.
std::map<std::string, std::string> Options(const std::string& text) {
  using Json = nlohmann::json;
  bool deep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, const Json&) {
    using Event = Json::parse_event_t;
    deep |= depth > 0 && (event == Event::object_start || event == Event::array_start);
    return !deep;
  };
  const Json json = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (deep || !json.is_object()) return {{"options", text}};
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : json.items()) options[name] = value.dump();
  return options;
}

// Shortens a value for a message.
std::string Shown(const std::string& text) {
  constexpr size_t kMost = 60;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

std::vector<std::string> OptionDifferences(const std::string& stored, const std::string& wanted) {
  const auto there = Options(stored);
  const auto here = Options(wanted);
  const auto value = [](const auto& options, const std::string& name) {
    const auto found = options.find(name);
    return found == options.end() ? "absent" : found->second;
  };
  std::set<std::string> names;
  for (const auto& option : there) names.insert(option.first);
  for (const auto& option : here) names.insert(option.first);
  std::vector<std::string> differences;
  for (const auto& name : names) {
    if (value(there, name) == value(here, name)) continue;
    differences.push_back(format("{}: {} in the file, {} here", Shown(name),
                                 Shown(value(there, name)), Shown(value(here, name))));
  }
  return differences;
}

bool IsWanted(const std::string& name, const CheckpointTarget& target) {
  return target.with_optimizer || !name.starts_with(kOptimizerPrefix);
}

using ArraysByName = std::map<std::string, const NamedArray*>;

ArraysByName ByName(std::span<const NamedArray> arrays, const CheckpointTarget& target) {
  ArraysByName by_name;
  for (const auto& array : arrays) {
    if (IsWanted(array.name, target)) by_name[array.name] = &array;
  }
  return by_name;
}

}  // namespace

void CheckModel(const CheckpointInfo& info, const CheckpointTarget& target,
                const std::string& path) {
  if (info.model != target.model) {
    throw Error(ErrorKind::kInvalidArgument,
                format("is a checkpoint of the model '{}', not of '{}'", info.model, target.model),
                {.path = path}, "name a checkpoint of this model, or train that one");
  }
  const auto differences = OptionDifferences(info.model_options, target.model_options);
  if (differences.empty()) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      "is a checkpoint of a model with other options: " + JoinNames(differences, {}, kShown),
      {.path = path}, "use its options, or another checkpoint");
}

std::vector<NamedArray> FittingArrays(const LoadedArrays& stored, const CheckpointTarget& target,
                                      const std::string& path) {
  ArraysByName there = ByName(stored.arrays, target);
  std::vector<std::string> differences;
  std::vector<NamedArray> fitting;
  for (const auto& wanted : target.arrays) {
    if (!IsWanted(wanted.name, target)) continue;
    const auto node = there.extract(wanted.name);
    if (!node) {
      differences.push_back(format("missing {} ({})", wanted.name, TypeAndShape(wanted)));
    } else if (const NamedArray& found = *node.mapped();
               found.type != wanted.type || found.shape != wanted.shape) {
      differences.push_back(format("{} is {} in the file, {} here", wanted.name,
                                   TypeAndShape(found), TypeAndShape(wanted)));
    } else {
      fitting.push_back(found);
    }
  }
  for (const auto& [name, array] : there) {
    differences.push_back(format("unexpected {} ({})", name, TypeAndShape(*array)));
  }
  if (differences.empty()) return fitting;
  throw Error(ErrorKind::kInvalidArgument,
              "does not fit this model: " + JoinNames(differences, {}, kShown), {.path = path},
              "use the options it was trained with, or another checkpoint");
}

void WriteCheckpoint(FileSystem& files, const std::string& path, const CheckpointInfo& info,
                     std::span<const NamedArray> arrays, bool durable) {
  WriteSafetensors(files, path, arrays, ToMetadata(info), durable);
}

Checkpoint ReadCheckpoint(FileSystem& files, const std::string& path) {
  LoadedArrays stored = ReadSafetensors(files, path);
  CheckpointInfo info = FromMetadata(stored.metadata, path);
  return {std::move(info), std::move(stored)};
}

Checkpoint LoadCheckpoint(FileSystem& files, const std::string& path,
                          const CheckpointTarget& target) {
  Checkpoint checkpoint = ReadCheckpoint(files, path);
  CheckModel(checkpoint.info, target, path);
  checkpoint.stored.arrays = FittingArrays(checkpoint.stored, target, path);
  return checkpoint;
}

}  // namespace recpack::train

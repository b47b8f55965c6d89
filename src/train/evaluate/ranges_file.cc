#include "src/train/evaluate/ranges_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

using Json = nlohmann::json;

constexpr char kFormat[] = "recpack-int8-ranges";
constexpr int kVersion = 1;

[[noreturn]] void Damaged(const std::string& reason, const std::string& path) {
  throw Error(ErrorKind::kCorrupt, reason, {.path = path},
              "calibrate again: rectrain eval --int8 --save-ranges FILE");
}

// The member, if it is of the type that `holds` asks for.
template <typename T, typename Holds>
T Take(const Json& json, const char* name, Holds holds, const std::string& path) {
  const auto found = json.find(name);
  if (found == json.end() || !holds(*found)) {
    Damaged(format("\"{}\" is missing or of another kind", name), path);
  }
  return found->template get<T>();
}

}  // namespace

void WriteRanges(const std::string& path, const SavedRanges& saved) {
  const Json json = {{"format", kFormat},
                     {"version", kVersion},
                     {"model", saved.model},
                     {"model_options", saved.model_options},
                     {"step", saved.step},
                     {"percentile", saved.percentile},
                     {"calibrated_on", saved.calibrated_on},
                     {"ranges", saved.ranges}};
  const std::string text = json.dump(1) + "\n";
  WriteFileAtomically(PosixFiles(), path, AsBytes(text));
}

SavedRanges ReadRanges(const std::string& path) {
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path);
  const std::string text(AsText(bytes));
  const Json json = NestsTooDeep(text) ? Json() : Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    Damaged("is not a file of int8 ranges", path);
  }
  if (json.value("version", Json()) != kVersion) Damaged("has another version", path);
  const auto is_text = [](const Json& each) { return each.is_string(); };
  const auto is_count = [](const Json& each) { return each.is_number_unsigned(); };
  SavedRanges saved{
      .model = Take<std::string>(json, "model", is_text, path),
      .model_options = Take<std::string>(json, "model_options", is_text, path),
      .step = Take<uint64_t>(json, "step", is_count, path),
      .percentile = Take<double>(
          json, "percentile", [](const Json& each) { return each.is_number(); }, path),
      .calibrated_on = Take<uint64_t>(json, "calibrated_on", is_count, path)};
  const auto is_ranges = [](const Json& each) {
    return each.is_array() && std::all_of(each.begin(), each.end(), [](const Json& range) {
             return range.is_number() && std::isfinite(range.get<float>()) &&
                    range.get<float>() >= 0;
           });
  };
  saved.ranges = Take<std::vector<float>>(json, "ranges", is_ranges, path);
  return saved;
}

}  // namespace recpack::train

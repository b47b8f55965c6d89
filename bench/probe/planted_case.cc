#include "bench/probe/planted_case.h"

#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/text.h"

namespace recpack::bench {
namespace {

constexpr std::pair<const char*, Cause> kNames[] = {
    {"none", Cause::kNone},
    {"storage", Cause::kStorage},
    {"cold-cache", Cause::kColdCache},
    {"decode", Cause::kDecode},
    {"function", Cause::kFunction},
    {"burn", Cause::kBurn},
    {"batch-function", Cause::kBatchFunction},
    {"batch-burn", Cause::kBatchBurn},
    {"background", Cause::kBackground},
    {"slow-rank-input", Cause::kSlowRankInput},
    {"slow-rank-compute", Cause::kSlowRankCompute},
    {"hidden-wait", Cause::kHiddenWait},
    {"host", Cause::kHost},
    {"copies", Cause::kCopies},
    {"launch", Cause::kLaunch},
    {"hang", Cause::kHang},
    {"stuck-input", Cause::kStuckInput},
};

}  // namespace

Cause ParseCause(const std::string& name) {
  std::string names;
  for (const auto& [text, cause] : kNames) {
    if (name == text) return cause;
    names += (names.empty() ? "" : ", ") + std::string(text);
  }
  throw Error(ErrorKind::kInvalidArgument, "unknown cause '" + name + "'", {},
              "expected one of " + names);
}

std::vector<PlantedPart> ParseParts(const std::string& text) {
  std::vector<PlantedPart> parts;
  if (text.empty()) return parts;
  for (const std::string& each : SplitText(text, ',')) {
    const size_t colon = each.find(':');
    if (colon == std::string::npos) {
      throw Error(ErrorKind::kInvalidArgument, "unknown part '" + each + "'", {},
                  "expected CAUSE:MS");
    }
    parts.push_back({ParseCause(each.substr(0, colon)),
                     std::chrono::duration<double>(std::stod(each.substr(colon + 1)) * 1e-3)});
  }
  return parts;
}

}  // namespace recpack::bench

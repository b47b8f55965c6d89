#include "src/pack/open/notices.h"

#include <cstdint>
#include <map>
#include <utility>

#include "src/pack/sources/tfrecord/tfrecord.h"

namespace recpack::pack {

std::vector<std::string> PackNotices(const Source& source, const Manifest& manifest) {
  std::vector<std::string> notices = source.Notices();
  std::map<int64_t, uint64_t> counts;
  for (const auto& split : manifest.splits) {
    for (const auto& [label, count] : split.class_counts) counts[label] += count;
  }
  if (auto notice = OneBasedLabelNotice(counts)) notices.push_back(std::move(*notice));
  return notices;
}

}  // namespace recpack::pack

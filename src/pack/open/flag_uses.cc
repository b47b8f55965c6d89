#include "src/pack/open/flag_uses.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack::pack {
namespace {

struct FlagUse {
  const char* flag;
  bool given;
  std::vector<std::string_view> kinds;  // that use the flag
};

std::vector<FlagUse> FlagUses(const SourceFlags& flags) {
  const std::vector<std::string_view> of_images = {"folder", "imagenet", "tar", "list", "tfrecord"};
  return {{"--splits", !flags.splits.empty(), {"cifar", "cifar10", "cifar100"}},
          {"--split", !flags.split.empty(), {"tar"}},
          {"--field", !flags.fields.empty(), {"tar", "list", "tfrecord"}},
          {"--column", !flags.columns.empty(), {"list"}},
          {"--layout", !flags.layout.empty(), {"folder"}},
          {"--filter", !flags.filters.empty(), {"tfrecord"}},
          {"--label-offset", flags.label_offset != 0, {"tfrecord"}},
          {"--max-tokens", flags.max_tokens.has_value(), {"reviews"}},
          {"--vocabulary", flags.vocabulary.has_value(), {"reviews"}},
          {"--vocabulary-file", !flags.vocabulary_file.empty(), {"reviews"}},
          {"--seed", flags.seed.has_value(), {"reviews"}},
          {"--devkit", !flags.devkit.empty(), {"imagenet"}},
          {"--labels", !flags.labels.empty(), {"imagenet"}},
          {"--check-images", flags.check_images, of_images},
          {"--resize", flags.resize > 0, of_images},
          {"--jpeg", !flags.jpeg.empty(), of_images}};
}

}  // namespace

void RefuseForeignFlags(const SourceFlags& flags, const std::string& kind) {
  for (const FlagUse& use : FlagUses(flags)) {
    if (!use.given || std::ranges::count(use.kinds, kind) > 0) continue;
    throw Error(ErrorKind::kInvalidArgument,
                format("{} has no effect for sources of the kind {}", use.flag, kind),
                {.path = flags.path},
                format("leave it out; it applies to {}", JoinNames(use.kinds)));
  }
}

}  // namespace recpack::pack

#include "src/pack/job/append_check.h"

#include <vector>

#include "recpack/base/error.h"
#include "src/pack/job/side_files.h"
#include "src/shards/json/json.h"

namespace recpack::pack {
namespace {

// As a manifest keeps them, in which what is not UTF-8 was replaced.
bool SameInManifest(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return a == b || DumpJson(Json(a)) == DumpJson(Json(b));
}

}  // namespace

void CheckAppend(const Source& source, const Manifest& base, const std::string& out) {
  if (!SameInManifest(base.class_names, source.class_names())) {
    throw Error(ErrorKind::kInvalidArgument,
                "the classes of the source are not those of the data set it is appended to",
                {.path = out}, "labels would change their meaning: pack it on its own");
  }
  for (const SideFile& file : source.SideFiles()) FindSideFile(file, base, out);
}

}  // namespace recpack::pack

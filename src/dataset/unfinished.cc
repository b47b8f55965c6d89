#include "recpack/dataset/unfinished.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/dataset/plan.h"
#include "src/base/format.h"
#include "src/dataset/sidecar.h"

namespace recpack {

std::string UnfinishedPack::Reason() const {
  return format(
      "plans {} shards, of which {} are not there: run the same `recpack pack` again, which was "
      "not finished",
      planned, missing);
}

std::optional<UnfinishedPack> FindUnfinished(const Layout& layout) {
  const std::string path = layout.folder + "/" + kStateFolder + "/plan.json";
  if (layout.manifest || layout.folder.empty() || !PosixFiles().Exists(path)) return {};
  const NameList planned = ReadPlan(PosixFiles(), path).shards.files();
  const auto missing = std::ranges::count_if(planned, [&](const std::string& file) {
    return !PosixFiles().Exists(layout.folder + "/" + file);
  });
  if (missing == 0) return {};
  return UnfinishedPack{
      .plan = path, .planned = planned.size(), .missing = static_cast<uint64_t>(missing)};
}

Layout FindFinishedLayout(const std::string& path) {
  Layout layout = FindLayout(path);
  const auto unfinished = FindUnfinished(layout);
  if (!unfinished) return layout;
  throw Error(ErrorKind::kNotFound,
              format("holds an unfinished pack: {} of {} planned shards are not there",
                     unfinished->missing, unfinished->planned),
              {.path = layout.folder},
              format("run the same `recpack pack` again; or, to take what is there, name the "
                     "shards, such as '{}/*.tfrecord'",
                     layout.folder));
}

}  // namespace recpack

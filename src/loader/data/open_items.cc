#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/data/item_store.h"
#include "src/pack/sources/cifar/cifar.h"
#include "src/pack/sources/folder/folder.h"
#include "src/pack/sources/list/list.h"
#include "src/pack/sources/tar/tar.h"

namespace recpack {
namespace {

std::shared_ptr<const pack::Source> OpenTars(const std::vector<std::string>& paths,
                                             const DatasetOptions& options) {
  return pack::OpenTar({.path = paths.front(),
                        .further_paths = {paths.begin() + 1, paths.end()},
                        .split = options.split.empty() ? "train" : options.split,
                        .fields = options.fields,
                        .unpack = false});
}

void RefuseFields(const std::string& path, const DatasetOptions& options) {
  if (options.fields.empty()) return;
  throw Error(ErrorKind::kInvalidArgument, "has no fields to map", {.path = path},
              "leave out the field map: its features have the usual names");
}

}  // namespace

std::shared_ptr<const pack::Source> OpenItems(const std::string& kind,
                                              const std::vector<std::string>& paths,
                                              const DatasetOptions& options) {
  if (kind == "tar") return OpenTars(paths, options);
  if (paths.size() > 1) {
    throw Error(ErrorKind::kUnsupported, format("a {} cannot be one of a list", kind),
                {.path = paths.front()},
                "list shards or tar archives; open others one by one and mix them");
  }
  const std::string& path = paths.front();
  if (kind == "list") return pack::OpenList({.path = path, .fields = options.fields});
  RefuseFields(path, options);
  if (kind == "cifar") return pack::OpenCifar({.path = path});
  if (kind == "folder") return pack::OpenFolder({.path = path});
  throw Error(ErrorKind::kUnsupported,
              format("is a data set of kind {}, which must be packed first", kind), {.path = path},
              "recpack pack SRC OUT, then name OUT");
}

}  // namespace recpack

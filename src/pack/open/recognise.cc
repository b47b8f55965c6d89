#include "src/pack/open/recognise.h"

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/folders.h"
#include "src/pack/sources/cifar/cifar.h"
#include "src/pack/sources/folder/folder.h"
#include "src/pack/sources/imagenet/imagenet.h"
#include "src/pack/sources/list/list.h"
#include "src/pack/sources/reviews/reviews.h"
#include "src/pack/sources/tar/tar.h"
#include "src/pack/sources/tfrecord/tfrecord.h"
#include "src/remote/url/url.h"
#include "src/shards/layout/layout.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

namespace {

bool HoldsShards(const std::string& url) {
  try {
    FindLayout(url);
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound) return false;
    throw;
  }
}

}  // namespace

std::string RecogniseSource(const std::string& path) {
  if (remote::IsUrl(path)) {
    if (HasTarName(path)) return "tar";
    if (HoldsShards(path)) return "tfrecord";
    return LooksLikeTar(path) ? "tar" : "folder";
  }
  FileStatus(path);  // throws for cycles of links
  // A folder with a damaged manifest holds shards, too, not classes of files.
  if (PosixFiles().Exists(path + "/" + kManifestName)) return "tfrecord";
  if (LooksLikeCifar(path)) return "cifar";
  if (LooksLikeImagenet(path)) return "imagenet";
  if (LooksLikeTar(path)) return "tar";
  if (LooksLikeReviews(path)) return "reviews";
  if (LooksLikeList(path)) return "list";
  if (LooksLikeTfrecord(path)) return "tfrecord";
  if (LooksLikeFolder(path)) return "folder";
  return {};
}

}  // namespace recpack::pack

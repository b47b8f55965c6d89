#include "recpack/dataset/recognise.h"

#include "recpack/base/file.h"
#include "recpack/base/folders.h"
#include "recpack/dataset/cifar.h"
#include "recpack/dataset/folder.h"
#include "recpack/dataset/imagenet.h"
#include "recpack/dataset/list.h"
#include "recpack/dataset/manifest.h"
#include "recpack/dataset/reviews.h"
#include "recpack/dataset/tar.h"
#include "recpack/dataset/tfrecord.h"

namespace recpack {

std::string RecogniseSource(const std::string& path) {
  StatusOf(path);  // links that go round in circles are not "nothing"
  // A manifest that is damaged is one all the same: its shards are not files of a class.
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

}  // namespace recpack

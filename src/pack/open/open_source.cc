#include "src/pack/open/open_source.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/folders.h"
#include "recpack/base/hash.h"
#include "recpack/example/field_map.h"
#include "src/base/format.h"
#include "src/pack/item/image_options.h"
#include "src/pack/open/flag_uses.h"
#include "src/pack/open/recognise.h"
#include "src/pack/sources/cifar/cifar.h"
#include "src/pack/sources/folder/folder.h"
#include "src/pack/sources/imagenet/imagenet.h"
#include "src/pack/sources/list/list.h"
#include "src/pack/sources/reviews/reviews.h"
#include "src/pack/sources/tar/tar.h"
#include "src/pack/sources/tfrecord/tfrecord.h"
#include "src/remote/url/url.h"
#include "src/shards/layout/layout.h"
#include "src/shards/layout/split_folders.h"

namespace recpack::pack {
namespace {

constexpr char kKinds[] = "cifar10, cifar100, folder, imagenet, tar, list, reviews, tfrecord";

std::string Recognise(const std::string& path) {
  std::string kind = RecogniseSource(path);
  if (!kind.empty()) return kind;
  if (!std::filesystem::exists(FileStatus(path))) {
    throw Error(ErrorKind::kNotFound, "there is no such file or folder", {.path = path});
  }
  const bool is_table = path.ends_with(".parquet") || path.ends_with(".arrow");
  throw Error(ErrorKind::kInvalidArgument, "is not a data set that recpack recognises",
              {.path = path},
              is_table ? "pack it in Python, read by the library `datasets`: "
                         "recpack_io.pack(load_dataset('parquet', data_files=...), OUT)"
                       : format("say what it is with --from: {}", kKinds));
}

ImageOptions MakeImageOptions(const SourceFlags& flags,
                              std::map<std::string, std::string>& settings) {
  ImageOptions image{.check = flags.check_images,
                     .resize = flags.resize,
                     .quality = flags.quality,
                     .tile = flags.jpeg == "tile"};
  if (image.check) settings["check-images"] = "yes";
  if (image.resize > 0) {
    settings["resize"] = std::to_string(image.resize);
    settings["quality"] = std::to_string(image.quality);
  }
  if (image.tile) settings["jpeg"] = "tile";
  return image;
}

std::unique_ptr<Source> OpenCifarAs(const std::string& kind, const SourceFlags& flags) {
  CifarOptions options{.path = flags.path, .splits = flags.splits};
  if (kind == "cifar10") options.dataset = CifarDataset::kCifar10;
  if (kind == "cifar100") options.dataset = CifarDataset::kCifar100;
  return OpenCifar(options);
}

std::unique_ptr<Source> OpenImagenetAs(const SourceFlags& flags, const ImageOptions& image,
                                       const PackOptions& pack) {
  // --labels may also name the kit.
  const bool kit = std::filesystem::is_directory(flags.labels) || flags.labels.ends_with(".gz") ||
                   flags.labels.ends_with(".tar");
  return OpenImagenet({.path = flags.path,
                       .devkit = kit ? flags.labels : flags.devkit,
                       .labels = kit ? "" : flags.labels,
                       .image = image,
                       .work_folder = flags.work_folder,
                       .threads = pack.threads});
}

std::unique_ptr<Source> OpenFolderAs(const SourceFlags& flags, const ImageOptions& image,
                                     PackOptions& pack) {
  FolderOptions options{.path = flags.path, .threads = pack.threads, .image = image};
  if (!flags.layout.empty()) pack.settings["layout"] = flags.layout;
  if (flags.layout == "splits") options.layout = FolderOptions::Layout::kSplits;
  if (flags.layout == "classes") options.layout = FolderOptions::Layout::kClasses;
  return OpenFolder(options);
}

std::unique_ptr<Source> OpenListAs(const SourceFlags& flags, const ImageOptions& image,
                                   PackOptions& pack) {
  if (!flags.columns.empty()) pack.settings["column"] = flags.columns;
  return OpenList({.path = flags.path,
                   .fields = ParseFieldMap(flags.fields),
                   .types = ParseListTypes(flags.columns),
                   .image = image,
                   .threads = pack.threads});
}

std::string DigestOfFile(const std::string& path) {
  Sha256 digest;
  digest.Update(ReadWholeFile(PosixFiles(), path));
  return Hex(digest.Finish());
}

std::unique_ptr<Source> OpenReviewsAs(const SourceFlags& flags,
                                      std::map<std::string, std::string>& settings) {
  ReviewsOptions options{.path = flags.path,
                         .vocabulary_file = flags.vocabulary_file,
                         .work_folder = flags.work_folder};
  if (flags.max_tokens) options.max_tokens = static_cast<uint32_t>(*flags.max_tokens);
  if (flags.vocabulary) options.vocabulary = *flags.vocabulary;
  if (flags.seed) options.seed = *flags.seed;
  settings["max-tokens"] = std::to_string(options.max_tokens);
  settings["seed"] = std::to_string(options.seed);
  if (flags.vocabulary_file.empty()) {
    settings["vocabulary"] = std::to_string(options.vocabulary);
  } else {
    settings["vocabulary-file"] = DigestOfFile(flags.vocabulary_file);
  }
  return OpenReviews(options);
}

std::unique_ptr<Source> OpenTfrecordAs(const SourceFlags& flags, const ImageOptions& image,
                                       PackOptions& pack) {
  if (flags.label_offset != 0) pack.settings["label-offset"] = std::to_string(flags.label_offset);
  for (const auto& filter : flags.filters) pack.settings["filter"] += filter + ";";
  return OpenTfrecord({.path = flags.path,
                       .fields = ParseFieldMap(flags.fields),
                       .label_offset = flags.label_offset,
                       .filters = flags.filters,
                       .image = image,
                       .work_folder = flags.work_folder,
                       .in_order = !pack.plan.shuffle_seed,
                       .threads = pack.threads});
}

void RefuseRemote(const std::string& url, const std::string& kind) {
  if (kind == "folder" || kind == "tar" || kind == "tfrecord") return;
  throw Error(ErrorKind::kUnsupported,
              format("sources of the kind {} are read from local files alone", kind),
              {.path = remote::WithoutSecrets(url)},
              "copy it to a disk, or name tars, a folder of files, or one of shards");
}

std::unique_ptr<Source> OpenSource(const SourceFlags& flags, PackOptions& pack) {
  std::map<std::string, std::string>& settings = pack.settings;
  const std::string kind = flags.from.empty() ? Recognise(flags.path) : flags.from;
  RefuseForeignFlags(flags, kind);
  if (remote::IsUrl(flags.path)) RefuseRemote(flags.path, kind);
  if (!flags.splits.empty()) settings["splits"] = flags.splits;
  if (!flags.fields.empty()) settings["field"] = flags.fields;
  const ImageOptions image = MakeImageOptions(flags, settings);
  if (kind == "cifar" || kind == "cifar10" || kind == "cifar100") return OpenCifarAs(kind, flags);
  if (kind == "folder") return OpenFolderAs(flags, image, pack);
  if (kind == "tar") {
    if (!flags.split.empty()) settings["split"] = flags.split;
    return OpenTar({.path = flags.path,
                    .split = flags.split.empty() ? "train" : flags.split,
                    .fields = flags.fields.empty() ? FieldMap{} : ParseFieldMap(flags.fields),
                    .image = image,
                    .work_folder = flags.work_folder,
                    .threads = pack.threads});
  }
  if (kind == "imagenet") return OpenImagenetAs(flags, image, pack);
  if (kind == "list") return OpenListAs(flags, image, pack);
  if (kind == "reviews") return OpenReviewsAs(flags, settings);
  if (kind == "tfrecord") return OpenTfrecordAs(flags, image, pack);
  throw Error(ErrorKind::kInvalidArgument, format("unknown kind of source '{}'", kind), {},
              format("choose one of: {}", kKinds));
}

// Otherwise the next pack would include the shards.
void RefuseOutWithin(const std::string& folder, const std::string& packed_into) {
  namespace fs = std::filesystem;
  if (remote::IsUrl(folder) != remote::IsUrl(packed_into)) return;
  std::error_code ignored;
  const auto from = fs::weakly_canonical(fs::absolute(folder), ignored);
  const auto out = fs::weakly_canonical(fs::absolute(packed_into), ignored);
  const auto [end, at] = std::mismatch(from.begin(), from.end(), out.begin(), out.end());
  if (end != from.end()) return;
  throw Error(ErrorKind::kInvalidArgument, "lies within the folder to pack", {.path = packed_into},
              "choose a folder outside of " + folder);
}

// Overwriting removes the old output before the first record is read.
void RefuseOutWithShards(const std::string& shards, const std::string& packed_into) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const LayoutSplit& split : FindLayout(shards).splits) {
    for (const std::string& shard : split.shards) {
      const bool is_there =
          remote::IsUrl(shard)
              ? FolderPath(shard) + "/" == fs::path(packed_into) / ""
              : fs::equivalent(fs::canonical(shard, ignored).parent_path(), packed_into, ignored);
      if (!is_there) continue;
      throw Error(ErrorKind::kInvalidArgument,
                  "holds the shards to pack: overwriting it would remove them unread",
                  {.path = packed_into}, "pack into another folder");
    }
  }
}

}  // namespace

std::unique_ptr<Source> OpenSourceToPack(const SourceFlags& given, bool shuffle_classes,
                                         PackOptions& options) {
  SourceFlags flags = given;
  flags.path = FindPublished(flags.path, flags.download_progress);
  if (remote::IsUrl(flags.path)) flags.path = remote::WithoutLastSlash(flags.path);
  auto source = OpenSource(flags, options);
  if (source->kind() == "folder") RefuseOutWithin(flags.path, options.out);
  if (source->kind() == "tfrecord" && options.overwrite) {
    RefuseOutWithShards(flags.path, options.out);
  }
  if (shuffle_classes && source->sorted_by_class()) options.plan.shuffle_seed = 0;
  return source;
}

}  // namespace recpack::pack

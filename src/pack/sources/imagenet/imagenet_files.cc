#include "src/pack/sources/imagenet/imagenet_files.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"
#include "src/pack/item/field_values.h"
#include "src/shards/files/folder_listing.h"
#include "src/shards/files/path_pattern.h"

namespace recpack::pack {
namespace {

constexpr std::string_view kTrainArchive = "ILSVRC2012_img_train.tar";
constexpr std::string_view kValidationArchive = "ILSVRC2012_img_val.tar";
constexpr std::string_view kValidationPrefix = "ILSVRC2012_val_";
constexpr std::string_view kDevkit = "ILSVRC2012_devkit_t12";

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Returns 293 for ILSVRC2012_val_00000293.JPEG.
std::optional<uint64_t> ValidationNumber(std::string_view path) {
  std::string_view name = BaseName(path);
  if (!name.starts_with(kValidationPrefix)) return {};
  name.remove_prefix(kValidationPrefix.size());
  const auto number = ParseInt64(name.substr(0, name.find('.')));
  if (!number || *number < 0) return {};
  return static_cast<uint64_t>(*number);
}

bool HoldsValidationImages(const std::string& folder) {
  return IsFolder(folder) && !FilesInFolder(folder, [](const std::string& name) {
                                return ValidationNumber(name).has_value();
                              }).empty();
}

std::string FirstThatExists(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (IsFile(path) || IsFolder(path)) return path;
  }
  return {};
}

ImagenetFiles FindInFolder(const std::string& folder) {
  ImagenetFiles files;
  const std::string base = folder + "/";
  files.train_archive = FirstThatExists({base + std::string(kTrainArchive)});
  files.validation_archive = FirstThatExists({base + std::string(kValidationArchive)});
  if (files.validation_archive.empty()) {
    for (const std::string& images : {folder, base + "val"}) {
      if (files.validation_folder.empty() && HoldsValidationImages(images)) {
        files.validation_folder = images;
      }
    }
  }
  return files;
}

std::string FindDevkit(const std::string& folder) {
  const std::string kit = folder + "/" + std::string(kDevkit);
  return FirstThatExists({kit, kit + ".tar.gz", kit + ".tar"});
}

struct NamedImage {
  std::string name;
  ImagenetItem item;
};

ImagenetSplit SortedSplit(std::vector<NamedImage> images) {
  std::ranges::sort(images, [](const NamedImage& a, const NamedImage& b) {
    return a.item.label != b.item.label ? a.item.label < b.item.label : a.name < b.name;
  });
  ImagenetSplit split;
  for (NamedImage& image : images) {
    image.item.name = split.names.size();
    split.names.append(image.name.c_str(), image.name.size() + 1);
    split.items.push_back(image.item);
  }
  return split;
}

void Append(ImagenetSplit& all, ImagenetSplit part) {
  for (ImagenetItem& item : part.items) {
    item.name += all.names.size();
    all.items.push_back(item);
  }
  all.names += part.names;
}

[[noreturn]] void FailNotTrain(const std::string& path, const std::string& member) {
  throw Error(ErrorKind::kInvalidArgument,
              format("its member {} is not an archive of a class (n01440764.tar)", member),
              {.path = path}, "is it the official archive of training images?");
}

// Indexes the archives in the archive of training images, in parallel.
ImagenetSplit IndexClasses(const ReadableFile& file, const TarVolumes::Volume& volume, int threads,
                           std::vector<std::string>& classes) {
  const std::string& path = volume.path;
  std::vector<TarMember> archives;
  IndexTar(file, volume.range, path, [&](const TarMember& member) {
    if (!member.name.ends_with(".tar")) FailNotTrain(path, member.name);
    archives.push_back(member);
  });
  std::ranges::sort(archives, {}, &TarMember::name);
  if (archives.empty()) FailNotTrain(path, "(none)");
  for (const TarMember& archive : archives) {
    const std::string_view name = BaseName(archive.name);
    classes.emplace_back(name.substr(0, name.size() - 4));
  }
  std::vector<ImagenetSplit> parts(archives.size());
  ParallelFor(archives.size(), threads, [&](size_t, size_t i) {
    const std::string name = format("{}:{}", path, archives[i].name);
    std::vector<NamedImage> images;
    IndexTar(file, {archives[i].offset, archives[i].size}, name, [&](const TarMember& member) {
      images.push_back(
          {member.name,
           {.offset = member.offset, .size = member.size, .label = static_cast<uint32_t>(i)}});
    });
    parts[i] = SortedSplit(std::move(images));
  });
  ImagenetSplit all;
  for (ImagenetSplit& part : parts) Append(all, std::move(part));
  return all;
}

// Maps the labels of validation images to the numbers of the classes in use.
class Relabel {
 public:
  Relabel(const ImagenetLabels& labels, std::vector<std::string>& classes) : labels_(labels) {
    if (classes.empty()) classes = labels.classes;
    for (const std::string& name : labels.classes) {
      const auto found = std::ranges::lower_bound(classes, name);
      const bool known = found != classes.end() && *found == name;
      numbers_.push_back(known ? static_cast<int32_t>(found - classes.begin()) : -1);
    }
  }

  uint32_t operator()(uint64_t image) const {
    const uint32_t label = labels_.Label(image);
    if (numbers_[label] >= 0) return static_cast<uint32_t>(numbers_[label]);
    throw Error(ErrorKind::kCorrupt,
                format("validation image {} has the class {}, which has no training images", image,
                       labels_.classes[label]),
                {.path = labels_.path});
  }

 private:
  const ImagenetLabels& labels_;
  std::vector<int32_t> numbers_;
};

}  // namespace

ImagenetFiles FindImagenet(const std::string& path) {
  ImagenetFiles files;
  if (BaseName(path) == kTrainArchive) {
    files.train_archive = path;
  } else if (BaseName(path) == kValidationArchive) {
    files.validation_archive = path;
  } else if (IsFolder(path)) {
    files = FindInFolder(path);
  }
  const bool in_folder = IsFolder(path);
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
  files.devkit = FindDevkit(in_folder ? path : parent);
  if (files.devkit.empty() && files.validation_folder == path) {
    files.devkit = FindDevkit(path + "/..");
  }
  return files;
}

ImagenetSplit IndexImagenetTrain(TarVolumes& volumes, size_t volume, int threads,
                                 std::vector<std::string>& classes) {
  ImagenetSplit split;
  volumes.Open(volume, [&](const ReadableFile& file) {
    split = IndexClasses(file, volumes[volume], threads, classes);
  });
  split.volume = volume;
  return split;
}

ImagenetSplit IndexImagenetValidation(TarVolumes& volumes, size_t volume,
                                      const ImagenetLabels& labels,
                                      std::vector<std::string>& classes) {
  const std::string& path = volumes[volume].path;
  const Relabel relabel(labels, classes);
  std::vector<NamedImage> images;
  const auto add = [&](const TarMember& member) {
    const auto number = ValidationNumber(member.name);
    if (!number) {
      throw Error(
          ErrorKind::kInvalidArgument,
          format("its member {} is not named {}NNNNNNNN.JPEG", member.name, kValidationPrefix),
          {.path = path}, "is it the official archive of validation images?");
    }
    images.push_back({std::string(BaseName(member.name)),
                      {.offset = member.offset, .size = member.size, .label = relabel(*number)}});
  };
  volumes.Open(volume,
               [&](const ReadableFile& file) { IndexTar(file, volumes[volume].range, path, add); });
  ImagenetSplit split = SortedSplit(std::move(images));
  split.volume = volume;
  return split;
}

ImagenetSplit ListImagenetValidation(const std::string& folder, const ImagenetLabels& labels,
                                     std::vector<std::string>& classes) {
  const FolderListing listing = FolderTree(folder).List("");
  const Relabel relabel(labels, classes);
  std::vector<NamedImage> images;
  for (const ListedFile& file : listing.files) {
    const std::string name = listing.names.c_str() + file.name;
    const auto number = ValidationNumber(name);
    if (number) images.push_back({name, {.size = file.size, .label = relabel(*number)}});
  }
  return SortedSplit(std::move(images));
}

}  // namespace recpack::pack

// Finds and indexes the images in ImageNet's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/pack/sources/imagenet/imagenet.h"
#include "src/pack/sources/imagenet/imagenet_labels.h"
#include "src/pack/sources/tar/tar_volumes.h"

namespace recpack::pack {

// Paths of the parts; empty if missing.
struct ImagenetFiles {
  std::string train_archive;
  std::string validation_archive;
  std::string validation_folder;
  std::string devkit;
};

// Finds the parts by name; `path` as in ImagenetOptions. All are empty if it is not ImageNet.
ImagenetFiles FindImagenet(const std::string& path);

struct ImagenetItem {
  uint64_t offset = 0;  // in the file of its archive
  uint64_t size = 0;
  uint64_t name = 0;  // offset of its name in ImagenetSplit::names
  uint32_t label = 0;
};
static_assert(sizeof(ImagenetItem) == 32);  // docs/reference/sources.md says so

struct ImagenetSplit {
  static constexpr size_t kNoVolume = ~size_t{0};

  std::vector<ImagenetItem> items;  // by label, then name
  std::string names;                // each ends with a zero byte
  size_t volume = kNoVolume;        // the archive; kNoVolume: files in a folder

  std::string_view Name(const ImagenetItem& item) const { return names.c_str() + item.name; }
};

// Indexes the archive of archives `volumes[volume]`. Fills `classes`, sorted.
ImagenetSplit IndexImagenetTrain(TarVolumes& volumes, size_t volume, int threads,
                                 std::vector<std::string>& classes);

// Indexes the flat images; labels are positions in `classes`, which is taken from `labels` if
// empty.
ImagenetSplit IndexImagenetValidation(TarVolumes& volumes, size_t volume,
                                      const ImagenetLabels& labels,
                                      std::vector<std::string>& classes);
ImagenetSplit ListImagenetValidation(const std::string& folder, const ImagenetLabels& labels,
                                     std::vector<std::string>& classes);

}  // namespace recpack::pack

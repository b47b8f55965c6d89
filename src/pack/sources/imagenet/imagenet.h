// ImageNet (ILSVRC 2012) as it is handed out, as a source of items (docs/sources.md).
#pragma once

#include <memory>
#include <string>

#include "src/pack/item/image_options.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

struct ImagenetOptions {
  // ILSVRC2012_img_train.tar (a tar of nNNNNNNNN.tar), ILSVRC2012_img_val.tar, a folder that holds
  // one of these or both, or a folder of ILSVRC2012_val_*.JPEG files.
  std::string path = {};

  // The development kit, where the labels of the validation images are:
  // ILSVRC2012_devkit_t12.tar.gz or its folder. Empty: looked for beside the images.
  std::string devkit = {};

  // Instead of the kit: a text file with the WordNet id of validation image N in line N.
  std::string labels = {};

  ImageOptions image = {};

  // As TarOptions has them.
  std::string work_folder = {};
  int threads = 0;
};

// Splits train and validation, whichever is there, with the features of a folder source. Labels are
// the places of the WordNet ids in sorted order, 0 to 999, as torchvision numbers them (the kit's
// own ids, from 1, are another order); class/text is the WordNet id. Items are sorted by class and
// name.
//
// Memory: 32 bytes and the file's name.
//
// Throws Error: kNotFound where images or the labels of validation images are missing; kCorrupt for
// damaged archives, kits and label files; kInvalidArgument for something else than ImageNet. Read()
// as the folder's and the tar's.
std::unique_ptr<Source> OpenImagenet(const ImagenetOptions& options);

// Whether it has the name of an official archive, or holds such files.
bool LooksLikeImagenet(const std::string& path);

}  // namespace recpack::pack

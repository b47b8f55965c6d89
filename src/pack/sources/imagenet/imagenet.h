// Source for ImageNet (ILSVRC 2012) in its official format (docs/reference/sources.md).
#pragma once

#include <memory>
#include <string>

#include "src/pack/item/image_options.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

struct ImagenetOptions {
  // ILSVRC2012_img_train.tar (a tar of nNNNNNNNN.tar), ILSVRC2012_img_val.tar, a folder that holds
  // one or both of these, or a folder of ILSVRC2012_val_*.JPEG files.
  std::string path = {};

  // The development kit with the labels of the validation images: ILSVRC2012_devkit_t12.tar.gz or
  // its folder. Empty: looked for beside the images.
  std::string devkit = {};

  // Replaces the kit: a text file with the WordNet id of validation image N in line N.
  std::string labels = {};

  ImageOptions image = {};

  // Same as in TarOptions.
  std::string work_folder = {};
  int threads = 0;
};

// Opens the splits train and validation, or the one that exists, with the features of a folder
// source. Labels are the positions of the WordNet ids in sorted order, 0 to 999, as in torchvision
// (the kit's own ids, from 1, are in another order); class/text is the WordNet id. Items are sorted
// by class and name.
//
// Memory: 32 bytes and the file name per item.
//
// Throws Error: kNotFound if the images or the labels of validation images are missing; kCorrupt
// for damaged archives, kits and label files; kInvalidArgument if it is not ImageNet. Read() throws
// as for folders and tar archives.
std::unique_ptr<Source> OpenImagenet(const ImagenetOptions& options);

// Tells whether `path` has the name of an official archive, or holds such files.
bool LooksLikeImagenet(const std::string& path);

}  // namespace recpack::pack

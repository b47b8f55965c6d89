// Which class each of ImageNet's validation images is of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recpack::pack {

struct ImagenetLabels {
  std::string path;                  // for messages
  std::vector<std::string> classes;  // WordNet ids, sorted
  std::vector<uint32_t> labels;      // of image N at N - 1: into `classes`

  // Throws Error (kCorrupt) where there is none.
  uint32_t LabelOf(uint64_t image) const;
};

// From the development kit: an archive, or its folder, the folder around that or its data folder.
// Throws Error: kNotFound, kCorrupt, kUnsupported.
ImagenetLabels ReadImagenetDevkit(const std::string& path);

// From a file with a WordNet id a line; the classes are those in it. Throws Error: kNotFound,
// kCorrupt.
ImagenetLabels ReadImagenetLabelList(const std::string& path);

}  // namespace recpack::pack

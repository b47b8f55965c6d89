// Reads the labels of ImageNet's validation images.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recpack::pack {

struct ImagenetLabels {
  std::string path;                  // for messages
  std::vector<std::string> classes;  // WordNet ids, sorted
  std::vector<uint32_t> labels;      // labels[N - 1] of image N is an index into `classes`

  // Throws Error (kCorrupt) if the image has no label.
  uint32_t Label(uint64_t image) const;
};

// Reads the development kit: an archive, its folder, the folder around that, or its data folder.
// Throws Error: kNotFound, kCorrupt, kUnsupported.
ImagenetLabels ReadImagenetDevkit(const std::string& path);

// Reads a file with one WordNet id per line; the classes are the ids in it. Throws Error:
// kNotFound, kCorrupt.
ImagenetLabels ReadImagenetLabelList(const std::string& path);

}  // namespace recpack::pack

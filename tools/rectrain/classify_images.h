// Classifies image files with a trained network, for rectrain eval --image.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/train/evaluate/evaluator.h"
#include "tools/json_line.h"

namespace recpack::tool {

struct ClassifyOptions {
  std::vector<std::string> images;  // paths
  std::string names;        // file with the class names, one per line; empty: those of `data`
  std::string data, split;  // data set whose class names are used; may be empty
  size_t top = 3;           // classes to show per image
  bool json = false;
};

// Path, model and step of the evaluator's checkpoint.
Json CheckpointJson(const train::Evaluator& evaluator);

// Prints the most probable classes of each image. Throws Error: kInvalidArgument if the number of
// names is not the network's; whatever reading an image throws.
void ClassifyImages(const ClassifyOptions& options, train::Evaluator& evaluator);

}  // namespace recpack::tool

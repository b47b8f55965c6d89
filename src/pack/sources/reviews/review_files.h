// Finds the files that hold the reviews.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recpack::pack {

struct ReviewFile {
  std::string path;
  std::string name;           // without its folder
  uint64_t first_review = 0;  // number of its first non-blank line, over all files
};

// Finds the files named by `path` (a file, folder or pattern), in the order of their reviews.
// Throws Error (kNotFound).
std::vector<ReviewFile> FindReviewFiles(const std::string& path);

}  // namespace recpack::pack

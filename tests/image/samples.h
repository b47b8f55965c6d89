// Access to the committed sample images (made by tests/golden/image/make.py).
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "tests/golden.h"

namespace recpack {

inline ByteBuffer Sample(const std::string& name) {
  return ReadWholeFile(PosixFiles(), GoldenPath("image/" + name));
}

// Returns the sorted names of all samples that end in `suffix`, without the expected results of
// others.
inline std::vector<std::string> SampleNames(const std::string& suffix) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(GoldenPath("image"))) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(suffix) && name.find(".expected.") == std::string::npos) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline ByteBuffer Prefix(const ByteBuffer& bytes, size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace recpack

// Files that the build embeds in the library.
#pragma once

#include <string_view>
#include <vector>

namespace recpack::probe {

struct EmbeddedFile {
  std::string_view path;  // relative to the embedded folder
  std::string_view text;
};

const std::vector<EmbeddedFile>& PythonHookFiles();
const std::vector<EmbeddedFile>& ReportPageFiles();
const std::vector<EmbeddedFile>& TrackerFiles();

}  // namespace recpack::probe

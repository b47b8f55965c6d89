// Files that the library carries within itself.
#pragma once

#include <string_view>
#include <vector>

namespace recpack::probe {

struct EmbeddedFile {
  std::string_view path;  // below the folder that was embedded
  std::string_view text;
};

const std::vector<EmbeddedFile>& PythonHookFiles();
const std::vector<EmbeddedFile>& ReportPageFiles();

}  // namespace recpack::probe

#include "tools/recprobe/terminal/hidden_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace recpack::tool {
namespace {

constexpr size_t kMostLines = 100;
constexpr std::streamoff kTail = 16'384;  // bytes

}  // namespace

HiddenStreams::HiddenStreams(const std::string& output) {
  Replace(STDIN_FILENO, "/dev/null", O_RDONLY);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    Replace(stream, output, O_WRONLY | O_CREAT | O_APPEND);
  }
}

HiddenStreams::~HiddenStreams() {
  for (const auto& [stream, before] : before_) ::dup2(before.get(), stream);
}

void HiddenStreams::Replace(int stream, const std::string& path, int flags) {
  before_.emplace_back(stream, Descriptor(::fcntl(stream, F_DUPFD_CLOEXEC, 3)));
  const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  ::dup2(file.get(), stream);
}

std::vector<std::string> LastLines(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kTail));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    // A line may be drawn again and again, as progress bars are: its last state is kept.
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line.substr(line.rfind('\r') + 1));
  }
  if (lines.size() > kMostLines) {
    lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(kMostLines));
  }
  return lines;
}

}  // namespace recpack::tool

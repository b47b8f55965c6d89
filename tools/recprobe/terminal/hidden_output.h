// Keeps a command's output away from the screen, and reads its last lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recpack/base/descriptor.h"

namespace recpack::tool {

// Directs this process's standard streams elsewhere as long as it lives, for the program that is
// started meanwhile: its output would spoil a screen, and it must not take the terminal's keys. Not
// thread-safe.
class HiddenStreams {
 public:
  // `output`: file that stdout and stderr are appended to.
  explicit HiddenStreams(const std::string& output);
  ~HiddenStreams();
  HiddenStreams(const HiddenStreams&) = delete;

 private:
  void Replace(int stream, const std::string& path, int flags);

  std::vector<std::pair<int, Descriptor>> before_;
};

// Returns the last lines of a file, at most 100; none if it cannot be read.
std::vector<std::string> LastLines(const std::string& path);

}  // namespace recpack::tool

// Detection of duplicate paths, regardless of spelling.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "recpack/base/error.h"

namespace recpack {

class PathsOnce {
 public:
  // Adds a path; returns false if it was added before.
  bool Add(const std::string& path) {
    return seen_.insert(std::filesystem::path(path).lexically_normal()).second;
  }

  // Throws Error (kInvalidArgument) if it was added before. `what`: the kind of file in the
  // message, such as "shard".
  void AddOrThrow(const std::string& path, const std::string& what) {
    if (Add(path)) return;
    throw Error(ErrorKind::kInvalidArgument, "is listed twice", {.path = path},
                "name each " + what + " once");
  }

 private:
  std::set<std::string> seen_;
};

}  // namespace recpack

// Paths of which each is to come once, however it is spelt.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "recpack/base/error.h"

namespace recpack {

class PathsOnce {
 public:
  // Whether it had not come before.
  bool Add(const std::string& path) {
    return seen_.insert(std::filesystem::path(path).lexically_normal()).second;
  }

  // Throws Error (kInvalidArgument) where it had. `what` there should be one of: "shard".
  void AddOrThrow(const std::string& path, const std::string& what) {
    if (Add(path)) return;
    throw Error(ErrorKind::kInvalidArgument, "is listed twice", {.path = path},
                "name each " + what + " once");
  }

 private:
  std::set<std::string> seen_;
};

}  // namespace recpack

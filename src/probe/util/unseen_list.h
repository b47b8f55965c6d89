// A list of what could not be read, each told once.
#pragma once

#include <string>
#include <vector>

#include "src/probe/util/unseen.h"

namespace recpack::probe {

class UnseenList {
 public:
  // The first reason for `what` is kept.
  void Add(const char* what, const std::string& reason, const char* right) {
    for (const Unseen& known : list_) {
      if (known.what == what) return;
    }
    list_.push_back({what, reason, right});
  }
  // A file that could not be read, with errno.
  void Add(const char* what, const std::string& path, int error, const char* right);

  const std::vector<Unseen>& list() const noexcept { return list_; }

 private:
  std::vector<Unseen> list_;
};

}  // namespace recpack::probe

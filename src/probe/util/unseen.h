// Reports of what could not be read, and why.
#pragma once

#include <string>
#include <vector>

namespace recpack::probe {

struct Unseen {
  std::string what;    // "I/O of processes"
  std::string reason;  // "Permission denied (/proc/12/io)"
  std::string right;   // permission or setting that would make it available; empty if unknown
};

// Collects reports, one for each `what`.
class UnseenList {
 public:
  // Does nothing if `what` was reported before.
  void Add(const char* what, const std::string& reason, const char* right);
  // Reports a file that could not be read. `error`: errno.
  void Add(const char* what, const std::string& path, int error, const char* right);

  const std::vector<Unseen>& list() const noexcept { return list_; }

 private:
  bool Has(const char* what) const;

  std::vector<Unseen> list_;
};

}  // namespace recpack::probe

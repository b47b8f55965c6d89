#include "src/probe/util/unseen_list.h"

#include <cerrno>
#include <cstring>

#include "src/base/format.h"

namespace recpack::probe {

void UnseenList::Add(const char* what, const std::string& path, int error, const char* right) {
  for (const Unseen& known : list_) {
    if (known.what == what) return;
  }
  list_.push_back({what, format("{} ({})", std::strerror(error), path), right});
}

}  // namespace recpack::probe

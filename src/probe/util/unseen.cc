#include "src/probe/util/unseen.h"

#include <algorithm>
#include <cstring>

#include "src/base/format.h"

namespace recpack::probe {

bool UnseenList::Has(const char* what) const {
  return std::ranges::any_of(list_, [&](const Unseen& known) { return known.what == what; });
}

void UnseenList::Add(const char* what, const std::string& reason, const char* right) {
  if (!Has(what)) list_.push_back({what, reason, right});
}

void UnseenList::Add(const char* what, const std::string& path, int error, const char* right) {
  if (!Has(what)) list_.push_back({what, format("{} ({})", std::strerror(error), path), right});
}

}  // namespace recpack::probe

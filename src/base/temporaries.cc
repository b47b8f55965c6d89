#include "recpack/base/temporaries.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "recpack/base/error.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

// Returns "a" for "a.tmp" and "a.tmp-123"; nullopt for other names.
std::optional<std::string> FinalName(const std::string& temporary) {
  constexpr char kMark[] = ".tmp";
  const size_t mark = temporary.rfind(kMark);
  if (mark == std::string::npos) return {};
  const std::string end = temporary.substr(mark + sizeof kMark - 1);
  const bool numbered = end.size() > 1 && end.front() == '-' &&
                        end.find_first_not_of("0123456789", 1) == std::string::npos;
  if (!end.empty() && !numbered) return {};
  return temporary.substr(0, mark);
}

}  // namespace

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

void RemoveTemporaries(const std::string& folder,
                       const std::function<bool(const std::string& name)>& is_stale) {
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = FinalName(entry.path().filename());
    if (name && is_stale(*name)) stale.push_back(entry.path());
  }
  for (const auto& path : stale) {
    std::error_code code;
    fs::remove(path, code);
    if (code) throw SystemError("cannot remove", path, code.value());
  }
}

ScratchFolder::ScratchFolder() {
  const char* const folder = std::getenv("TMPDIR");
  path_ = folder == nullptr || *folder == '\0' ? "/tmp" : folder;
  path_ += "/recpack-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) throw SystemError("cannot make a folder", path_, errno);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace recpack

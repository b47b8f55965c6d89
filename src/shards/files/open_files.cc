#include "src/shards/files/open_files.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/remote/store/data_files.h"

namespace recpack {
namespace {

constexpr size_t kMaxOpenFiles = 16;

}  // namespace

void FailChanged(const std::string& path) {
  throw Error(ErrorKind::kCorrupt, "changed after it was opened", {.path = path},
              "start again when nothing writes to it");
}

const ReadableFile& OpenFiles::Get(size_t number, const std::string& path, uint64_t size) {
  const auto found = std::ranges::find(open_, number, &OpenFile::number);
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    return *open_.front().file;
  }
  auto file = remote::DataFiles().OpenForReading(path);
  if (file->Size() != size) FailChanged(path);
  if (open_.size() == kMaxOpenFiles) open_.pop_back();
  open_.push_front({number, std::move(file)});
  return *open_.front().file;
}

}  // namespace recpack

#include "src/probe/util/kept_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace recpack::probe {

std::optional<std::string_view> KeptFile::Read() {
  if (file_.get() < 0) {
    file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (file_.get() < 0) {
      error_ = errno;
      return std::nullopt;
    }
    ++files_->open;
  }
  std::vector<char>& text = files_->text;
  size_t size = 0;
  for (;;) {
    const ssize_t got =
        ::pread(file_.get(), text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      error_ = errno;
      Close();  // the next Read() opens it anew
      return std::nullopt;
    }
    size += static_cast<size_t>(got);
    if (size == text.size()) {
      text.resize(2 * text.size());
    } else if (got == 0 || size_ == Size::kOneRead) {
      break;
    }
  }
  if (files_->open > files_->max_open) Close();
  return std::string_view(text.data(), size);
}

void KeptFile::Close() noexcept {
  if (file_.get() < 0) return;
  file_ = Descriptor();  // swaps: the temporary closes the old one
  --files_->open;
}

}  // namespace recpack::probe

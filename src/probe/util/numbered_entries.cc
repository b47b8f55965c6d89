#include "src/probe/util/numbered_entries.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "recpack/base/descriptor.h"

namespace recpack::probe {

// Uses getdents64(2), because opendir(3) allocates each time; glibc has a function for it from 2.30
// on only.
int ListNumberedEntries(const std::string& folder, std::vector<char>& buffer,
                        std::vector<int>& numbers) {
  numbers.clear();
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) return errno;
  for (;;) {
    const ssize_t got = ::syscall(SYS_getdents64, file.get(), buffer.data(), buffer.size());
    if (got < 0) return errno;
    if (got == 0) break;
    for (size_t at = 0; at < static_cast<size_t>(got);) {
      const char* const entry = buffer.data() + at;
      uint16_t size = 0;
      std::memcpy(&size, entry + offsetof(dirent64, d_reclen), sizeof size);
      const char* const name = entry + offsetof(dirent64, d_name);
      const char* const name_end = name + std::strlen(name);
      int number = 0;
      const auto [end, error] = std::from_chars(name, name_end, number);
      if (error == std::errc() && end == name_end) numbers.push_back(number);
      at += size;
    }
  }
  if (!std::is_sorted(numbers.begin(), numbers.end())) std::sort(numbers.begin(), numbers.end());
  return 0;
}

}  // namespace recpack::probe

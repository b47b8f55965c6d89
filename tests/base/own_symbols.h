// Symbol table of this program, including static functions.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace recpack {

class OwnSymbols {
 public:
  // Empty if the file cannot be read or is stripped.
  OwnSymbols() {
    ::dl_iterate_phdr(
        [](dl_phdr_info* program, size_t, void* base) {
          *static_cast<uintptr_t*>(base) = program->dlpi_addr;
          return 1;  // stop: the first object is the program itself
        },
        &base_);
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (file < 0 || ::fstat(file, &status) != 0) return;
    void* const memory =
        ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (memory != MAP_FAILED) Find(static_cast<const char*>(memory));
  }

  // Returns the mangled name, or null if unknown. Async-signal-safe.
  const char* NameOf(const void* address) const noexcept {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address) - base_;
    for (size_t i = 0; i < count_; ++i) {
      const ElfW(Sym)& symbol = symbols_[i];
      const bool is_function = (symbol.st_info & 0xf) == STT_FUNC;
      if (is_function && symbol.st_value <= at && at - symbol.st_value < symbol.st_size) {
        return names_ + symbol.st_name;
      }
    }
    return nullptr;
  }

 private:
  void Find(const char* file) noexcept {
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(file);
    const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(file + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; ++i) {
      if (sections[i].sh_type != SHT_SYMTAB) continue;
      symbols_ = reinterpret_cast<const ElfW(Sym)*>(file + sections[i].sh_offset);
      count_ = sections[i].sh_size / sizeof(ElfW(Sym));
      names_ = file + sections[sections[i].sh_link].sh_offset;
    }
  }

  uintptr_t base_ = 0;
  const ElfW(Sym) * symbols_ = nullptr;
  size_t count_ = 0;
  const char* names_ = nullptr;
};

}  // namespace recpack

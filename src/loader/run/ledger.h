// The file that substitutions are written to (docs/format/ledger.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "recpack/loader/loader.h"

namespace recpack {

// The line of one substitution, with its end.
std::string LedgerLine(const Substitution& substitution);

// Owned by one thread of one process.
class Ledger {
 public:
  // Opens the file, makes it where there is none, and reads what it holds; a last line without an
  // end was being written when its program was killed, and is cut off. Throws Error: kIo; kCorrupt,
  // with the offset, for a line that is none of a ledger.
  explicit Ledger(const std::string& path);
  ~Ledger();
  Ledger(Ledger&& other) noexcept = delete;

  // Appends its line in one write, unless there is one of this epoch and position. Throws Error:
  // kIo; kInvalidArgument where that line names another record, so that it is of another run.
  void Add(const Substitution& substitution);

 private:
  void ReadLines();

  std::string path_;
  int fd_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> bad_;  // (epoch, position) -> record
};

}  // namespace recpack

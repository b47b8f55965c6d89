// Ledger: file of substitutions (docs/format/ledger.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "recpack/loader/loader.h"

namespace recpack {

// Returns the line of a substitution, including the newline.
std::string LedgerLine(const Substitution& substitution);

// Used by one thread of one process.
class Ledger {
 public:
  // Opens or creates the file and reads its lines. A last line without a newline, from a program
  // that was killed while writing, is cut off. Throws Error: kIo; kCorrupt, with the offset, if a
  // line is not a ledger line.
  explicit Ledger(const std::string& path);
  ~Ledger();
  Ledger(Ledger&& other) noexcept = delete;

  // Appends the substitution's line in one write, unless the file has a line for this epoch and
  // position. Throws Error: kIo; kInvalidArgument if that line names another record, so that the
  // file belongs to another run.
  void Add(const Substitution& substitution);

 private:
  void ReadLines();

  std::string path_;
  int fd_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> bad_;  // (epoch, position) -> record
};

}  // namespace recpack

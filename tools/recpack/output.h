// Prints counts, durations, a progress bar and notes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/base/format.h"
#include "src/pack/plan/unfinished.h"
#include "src/shards/layout/layout.h"
#include "tools/json_line.h"

namespace recpack::tool {

// "1 record", "1,234 records"; for nouns with a plural in s.
std::string Counted(uint64_t count, const std::string& noun);

// Prints Layout::notices to stderr, one line each.
void PrintNotices(const Layout& layout);

// Calls FindUnfinished(), and prints a note to stderr if shards of the pack are missing, or if that
// cannot be determined.
std::optional<pack::UnfinishedPack> NoteUnfinished(const Layout& layout);

// A progress line on stderr; shown only if stderr is a terminal.
class ProgressBar {
 public:
  ProgressBar(std::string what, bool quiet);

  // The total is the size of all shards of the layout.
  ProgressBar(std::string what, bool quiet, const Layout& layout);

  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;

  void Update(uint64_t bytes, uint64_t total_bytes);
  void Update(uint64_t bytes) { Update(bytes, total_); }

  // Removes the line. Call before printing anything else, which may go to the same terminal.
  void Clear();

 private:
  std::string what_;
  bool shown_;
  uint64_t total_ = 0;
  double started_;
  double drawn_ = 0;
};

}  // namespace recpack::tool

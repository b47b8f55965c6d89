// How the commands print.
#pragma once

#include <cstdint>
#include <string>

#include "src/shards/layout/layout.h"
#include "tools/human.h"
#include "tools/json_line.h"

namespace recpack::tool {

// "1 record", "1,234 records"; for nouns that take an s.
std::string Counted(uint64_t count, const std::string& noun);

std::string HumanSeconds(double seconds);

// A line on stderr that is drawn again and again, only where stderr is a terminal.
class ProgressBar {
 public:
  ProgressBar(std::string what, bool quiet);

  // Over all shards of the layout.
  ProgressBar(std::string what, bool quiet, const Layout& layout);

  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;

  void Update(uint64_t bytes, uint64_t total_bytes);
  void Update(uint64_t bytes) { Update(bytes, total_); }

  // Takes the line away. Before anything is printed, which may go to the same terminal.
  void Clear();

 private:
  std::string what_;
  bool shown_;
  uint64_t total_ = 0;
  double started_;
  double drawn_ = 0;
};

}  // namespace recpack::tool

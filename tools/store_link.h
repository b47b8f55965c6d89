// Measures the link to an object store: ranges of several sizes, several at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/json_line.h"

namespace recpack::tool {

// Ranges of one size, so many under way at a time.
struct LinkRate {
  uint64_t range_bytes = 0;
  int at_once = 0;
  uint64_t requests = 0;  // answered with the whole range
  double bytes_per_second = 0;
  double first_byte = 0;   // seconds from sending to the first byte, median
  uint64_t throttled = 0;  // answered with 429 or 503
  uint64_t failed = 0;     // other failures
};

struct StoreLink {
  std::string object;         // whose ranges were read, without secrets
  uint64_t record_bytes = 0;  // mean record; 0: not known
  std::vector<LinkRate> rates;

  const LinkRate& best() const;
  // The least demanding rate, by range and then by number at a time, that comes near to the best.
  const LinkRate& enough() const;
  // The best rate with ranges of about a record, as global order asks for; nullopt: no record is
  // known.
  std::optional<LinkRate> single_records() const;
};

// Reads ranges of the largest shard of the data set at `url`, or of the object `url`, for about
// `time`. Throws Error: kInvalidArgument if it is no URL or the object is too small; kNotFound;
// kIo.
StoreLink MeasureLink(const std::string& url, std::chrono::duration<double> time);

// The table, and which order and range size serve this link.
std::string LinkText(const StoreLink& link);

Json LinkJson(const StoreLink& link);

}  // namespace recpack::tool

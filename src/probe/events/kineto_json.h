// Streaming parser for the JSON of a PyTorch profiler trace.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace recpack::probe {

// An entry of "traceEvents". Missing strings are empty, missing numbers nullopt.
struct KinetoEvent {
  std::string phase;  // "X": complete event, with a duration
  std::string category;
  std::string name;
  std::optional<int64_t> begin;  // ns
  std::optional<int64_t> duration;
  std::optional<int64_t> process;
  std::optional<int64_t> thread;
  // Members of "args".
  std::optional<int64_t> device;
  std::optional<int64_t> stream;
  std::optional<int64_t> bytes;
  std::optional<int64_t> elements;  // of a collective's input
  std::string element_type;
};

struct KinetoHeader {
  bool events = false;  // has a list "traceEvents"
  bool schema = false;  // has Kineto's "schemaVersion"
  int64_t base_time = 0;
  std::vector<std::string> devices;
  std::optional<int> rank;
  std::optional<int> world_size;
};

// Calls `take` for each event, which it may move from. Throws as ReadKinetoTrace().
KinetoHeader ReadKinetoJson(const std::string& path,
                            const std::function<void(KinetoEvent& event)>& take);

}  // namespace recpack::probe

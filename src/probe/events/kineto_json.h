// The text of a trace of PyTorch's profiler, an event at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace recpack::probe {

// An entry of "traceEvents". Texts are empty, numbers absent where it has none.
struct KinetoEvent {
  std::string phase;  // "X": with a duration
  std::string category;
  std::string name;
  std::optional<int64_t> begin;  // ns
  std::optional<int64_t> duration;
  std::optional<int64_t> process;
  std::optional<int64_t> thread;
  // Of "args".
  std::optional<int64_t> device;
  std::optional<int64_t> stream;
  std::optional<int64_t> bytes;
  std::optional<int64_t> elements;  // of a collective's input
  std::string element_type;
};

struct KinetoHeader {
  bool events = false;  // there is a list of them
  bool schema = false;  // Kineto's
  int64_t base_time = 0;
  std::vector<std::string> devices;
  std::optional<int> rank;
  std::optional<int> world_size;
};

// Calls `take` for each event; it may move from it. Throws as ReadKinetoTrace().
KinetoHeader ReadKinetoJson(const std::string& path,
                            const std::function<void(KinetoEvent& event)>& take);

}  // namespace recpack::probe

// What the benches of whole passes share: rounds, the median, and the line of JSON.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace recpack::bench {

struct Pass {
  uint64_t records = 0;
  uint64_t bytes = 0;
};

// One uncounted pass, then `rounds` timed ones; prints the line that bench/README.md describes.
inline void Measure(const std::string& job, int threads, int rounds,
                    const std::function<Pass()>& pass) {
  Pass last = pass();
  std::vector<double> seconds;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    last = pass();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(seconds);
  std::printf(
      "{\"job\": \"%s\", \"threads\": %d, \"rounds\": %d, \"seconds_median\": %.6f, "
      "\"seconds_min\": %.6f, \"records\": %llu, \"bytes\": %llu}\n",
      job.c_str(), threads, rounds, seconds[seconds.size() / 2], seconds[0],
      static_cast<unsigned long long>(last.records), static_cast<unsigned long long>(last.bytes));
}

// The value behind `name`, or `otherwise`.
inline std::string Flag(int argc, char** argv, const std::string& name,
                        const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == name) return argv[i + 1];
  }
  return otherwise;
}

}  // namespace recpack::bench

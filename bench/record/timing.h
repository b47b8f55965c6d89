// Shared parts of the benches of whole passes: rounds, the median, and the lines of JSON.
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

// One uncounted pass, then `rounds` timed ones; prints the line that bench/README.md describes. No
// rounds: the first pass is the one that counts.
inline void Measure(const std::string& job, int threads, int rounds,
                    const std::function<Pass()>& pass) {
  Pass last;
  std::vector<double> seconds;
  for (int i = rounds > 0 ? -1 : 0; i < std::max(rounds, 1); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    last = pass();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i >= 0) seconds.push_back(taken.count());
  }
  std::ranges::sort(seconds);
  std::printf(
      "{\"job\": \"%s\", \"threads\": %d, \"rounds\": %d, \"seconds_median\": %.6f, "
      "\"seconds_min\": %.6f, \"records\": %llu, \"bytes\": %llu}\n",
      job.c_str(), threads, rounds, seconds[seconds.size() / 2], seconds[0],
      static_cast<unsigned long long>(last.records), static_cast<unsigned long long>(last.bytes));
}

// As the peers' scripts with --serve: says what it is, then does a pass for each line on stdin and
// says how long it took, so that programs can take turns while each keeps its warm state. `settle`
// comes before each pass, outside the time.
inline void Serve(const std::string& config, const std::function<void()>& settle,
                  const std::function<Pass()>& pass) {
  std::printf("{\"peer\": \"recpack\", \"version\": \"\", \"config\": \"%s\"}\n", config.c_str());
  std::fflush(stdout);
  for (int c; (c = std::getchar()) != EOF;) {
    if (c != '\n') continue;
    settle();
    const auto begin = std::chrono::steady_clock::now();
    const Pass last = pass();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    std::printf("{\"seconds\": %.6f, \"records\": %llu, \"bytes\": %llu}\n", taken.count(),
                static_cast<unsigned long long>(last.records),
                static_cast<unsigned long long>(last.bytes));
    std::fflush(stdout);
  }
}

// The value behind `name`, or `otherwise`.
inline std::string Flag(int argc, char** argv, const std::string& name,
                        const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == name) return argv[i + 1];
  }
  return otherwise;
}

// A program's flags, each with a value.
class Flags {
 public:
  Flags(int argc, char** argv) : argc_(argc), argv_(argv) {}
  std::string Text(const char* name, const char* otherwise) const {
    return Flag(argc_, argv_, name, otherwise);
  }
  int Number(const char* name, const char* otherwise) const {
    return std::stoi(Text(name, otherwise));
  }

 private:
  int argc_;
  char** argv_;
};

}  // namespace recpack::bench

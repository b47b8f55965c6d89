#include "bench/remote/network.h"

#include <algorithm>
#include <functional>
#include <thread>

namespace recpack::bench {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// FNV-1a.
uint64_t Hash(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

double Share(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

std::string Network::Draw(const std::string& method, const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++counts_.methods[method];
  const std::string request = method + " " + what;
  const uint64_t draw = Mix(Mix(Hash(request) ^ Mix(options_.seed)) + times_[request]++);
  std::string fault;
  if (!options_.faults.empty() && Share(draw) < options_.faulty) {
    fault = options_.faults[Mix(draw + 1) % options_.faults.size()];
  } else if (Share(Mix(draw + 2)) < options_.stalled) {
    fault = "stalled";
  }
  if (!fault.empty()) ++counts_.faults[fault];
  return fault;
}

void Network::Send(uint64_t bytes) {
  std::chrono::steady_clock::time_point begin;
  {
    const std::lock_guard lock(mutex_);
    counts_.body_bytes += bytes;
    if (options_.bytes_per_second <= 0) return;
    const auto now = std::chrono::steady_clock::now();
    // What a sleeper wakes up too late by is made good: a line does not lose time that way.
    constexpr std::chrono::milliseconds kLate(5);
    begin = std::max(free_, now - kLate);
    const std::chrono::duration<double> taken(static_cast<double>(bytes) /
                                              options_.bytes_per_second);
    free_ = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(taken);
  }
  std::this_thread::sleep_until(begin);
}

NetworkCounts Network::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace recpack::bench

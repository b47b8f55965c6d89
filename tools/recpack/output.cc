#include "tools/recpack/output.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::tool {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The number in front, and what follows it.
std::pair<double, std::string> NumberAndUnit(const std::string& text) {
  double number = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) number = -1;
  return {number, std::string(end, text.data() + text.size())};
}

}  // namespace

std::string JsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void PrintJson(const Json& json) { std::printf("%s\n", JsonLine(json).c_str()); }

std::string Counted(uint64_t count, const std::string& noun) {
  return HumanCount(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string HumanSeconds(double seconds) {
  if (seconds < 120) return format("{:.2f} s", seconds);
  if (seconds < 7200) return format("{:.0f} min", seconds / 60);
  return format("{:.1f} h", seconds / 3600);
}

uint64_t ParseBytes(const std::string& text) {
  const auto [number, unit] = NumberAndUnit(text);
  constexpr std::pair<const char*, double> kUnits[] = {
      {"", 1},          {"B", 1},         {"k", 1e3},          {"kB", 1e3}, {"KB", 1e3},
      {"K", 1e3},       {"M", 1e6},       {"MB", 1e6},         {"G", 1e9},  {"GB", 1e9},
      {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1ull << 30}, {"TB", 1e12}};
  for (const auto& [name, factor] : kUnits) {
    if (number * factor >= 1 && unit == name && number * factor < 1e18) {
      return static_cast<uint64_t>(number * factor);
    }
  }
  throw Error(ErrorKind::kInvalidArgument, format("'{}' is not a size", text), {},
              "write it like 100MB, 64MiB or 1GB");
}

double ParseShare(const std::string& text) {
  const auto [number, unit] = NumberAndUnit(text);
  const double share = unit == "%" ? number / 100 : number;
  if (number >= 0 && share <= 1 && (unit.empty() || unit == "%")) return share;
  throw Error(ErrorKind::kInvalidArgument, format("'{}' is not a share", text), {},
              "write it like 0.1% or 0.001");
}

ProgressBar::ProgressBar(std::string what, bool quiet)
    : what_(std::move(what)), shown_(!quiet && ::isatty(STDERR_FILENO) == 1), started_(Now()) {}

ProgressBar::ProgressBar(std::string what, bool quiet, const Layout& layout)
    : ProgressBar(std::move(what), quiet) {
  for (const auto& split : layout.splits) total_ += shown_ ? BytesOfShards(split) : 0;
}

void ProgressBar::Clear() {
  if (drawn_ > 0) std::fputs("\r\033[K", stderr);
  drawn_ = 0;
}

void ProgressBar::Update(uint64_t bytes, uint64_t total_bytes) {
  const double now = Now();
  if (!shown_ || now - drawn_ < 0.1) return;
  drawn_ = now;
  constexpr int kWidth = 30;
  const double total = static_cast<double>(std::max<uint64_t>(1, total_bytes));
  const double share = std::min(1.0, static_cast<double>(bytes) / total);
  const double rate = static_cast<double>(bytes) / std::max(1e-3, now - started_);
  const std::string bar(static_cast<size_t>(share * kWidth), '#');
  const double left = total * (1 - share) / std::max(1.0, rate);
  std::fputs(format("\r\033[K{} [{:<30}] {:3.0f} %  {}/s  {} left", what_, bar, share * 100,
                    HumanBytes(static_cast<uint64_t>(rate)), HumanSeconds(left))
                 .c_str(),
             stderr);
}

}  // namespace recpack::tool

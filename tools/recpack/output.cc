#include "tools/recpack/output.h"

#include <unistd.h>

#include <algorithm>
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

}  // namespace

std::optional<pack::UnfinishedPack> NoteUnfinished(const Layout& layout) {
  try {
    auto unfinished = pack::FindUnfinished(layout);
    if (unfinished) {
      std::fprintf(stderr, "note: %s %s\n", unfinished->plan.c_str(), unfinished->Reason().c_str());
    }
    return unfinished;
  } catch (const Error& error) {  // the existing shards are still read
    std::fprintf(stderr, "note: cannot tell whether the pack was finished: %s\n", error.what());
    return {};
  }
}

std::string Counted(uint64_t count, const std::string& noun) {
  return CountText(count) + " " + noun + (count == 1 ? "" : "s");
}

void PrintNotices(const Layout& layout) {
  for (const auto& notice : layout.notices) std::fprintf(stderr, "note: %s\n", notice.c_str());
}

ProgressBar::ProgressBar(std::string what, bool quiet)
    : what_(std::move(what)), shown_(!quiet && ::isatty(STDERR_FILENO) == 1), started_(Now()) {}

ProgressBar::ProgressBar(std::string what, bool quiet, const Layout& layout)
    : ProgressBar(std::move(what), quiet) {
  for (const auto& split : layout.splits) total_ += shown_ ? ShardBytes(split) : 0;
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
                    BytesText(static_cast<uint64_t>(rate)), DurationText(left))
                 .c_str(),
             stderr);
}

}  // namespace recpack::tool

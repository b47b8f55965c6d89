#include "src/remote/http/exchange.h"

#include <algorithm>
#include <cstring>

#include "src/base/parse_units.h"

namespace recpack::remote {
namespace {

constexpr size_t kMostErrorText = 64 << 10;

}  // namespace

std::string Exchange::Header(const std::string& name) const {
  const auto found = headers_.find(name);
  return found == headers_.end() ? "" : found->second;
}

std::optional<ContentRange> Exchange::Range() const {
  const std::string text = Header("content-range");  // "bytes 0-9/100"; "bytes */100"
  constexpr std::string_view kUnit = "bytes ";
  const size_t slash = text.find('/');
  if (!text.starts_with(kUnit) || slash == std::string::npos) return {};
  const std::string_view range = std::string_view(text).substr(kUnit.size(), slash - kUnit.size());
  const auto total = WholeNumber(std::string_view(text).substr(slash + 1));
  if (!total) return {};
  if (range == "*") return ContentRange{0, 0, *total};
  const size_t dash = range.find('-');
  if (dash == range.npos) return {};
  const auto first = WholeNumber(range.substr(0, dash)), last = WholeNumber(range.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= *total) return {};
  return ContentRange{*first, *last, *total};
}

bool Exchange::HasItsRange() const {
  const auto range = Range();
  return !ok() || !range || received_ == range->last - range->first + 1;
}

bool Exchange::AddHeader(std::string_view line) {
  header_bytes_ += line.size();
  if (has_endless_headers()) return false;
  if (line.starts_with("HTTP/")) {  // of the answer after a redirection or a 100
    headers_.clear();
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos) return true;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::string_view value = line.substr(colon + 1);
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!value.empty() && is_space(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_space(value.back())) value.remove_suffix(1);
  headers_[std::move(name)] = value;
  return true;
}

bool Exchange::AddBody(ByteView bytes) {
  const bool failed = status_ >= 300;
  if (!failed && into_.data() == nullptr && bytes.size() > request_.most_text - received_) {
    is_too_large_ = true;
    return false;
  }
  if (failed || into_.data() == nullptr) {
    const size_t room =
        failed ? kMostErrorText - std::min(kMostErrorText, text_.size()) : bytes.size();
    const ByteView kept = bytes.first(std::min(room, bytes.size()));
    text_.append(reinterpret_cast<const char*>(kept.data()), kept.size());
  } else {
    if (bytes.size() > into_.size() - received_) return false;
    if (!bytes.empty()) std::memcpy(into_.data() + received_, bytes.data(), bytes.size());
  }
  received_ += bytes.size();
  return true;
}

void Exchange::Begin() noexcept {
  begin_ = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    begun_ = true;
  }
  changed_.notify_all();
}

void Exchange::Finish(long status, std::string error) noexcept {
  status_ = status;
  error_ = std::move(error);
  end_ = std::chrono::steady_clock::now();
  if (start_ == std::chrono::steady_clock::time_point{}) start_ = end_;  // it was never sent
  {
    const std::lock_guard lock(mutex_);
    done_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
}

void Exchange::Wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done(); });
}

bool Exchange::WaitForBegin(std::chrono::duration<double> longest) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, longest, [this] { return begun_ || done(); });
}

}  // namespace recpack::remote

#include "src/probe/events/kineto_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/util/gzip_input.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::json;

// In microseconds. With these, the end of the latest event minus the begin of the earliest fits 64
// bits of ns.
constexpr int64_t kLargestTime = int64_t{1} << 52;  // 142 years
constexpr int64_t kEarliest = -(int64_t{1} << 50);
constexpr int64_t kLongest = int64_t{1} << 51;
constexpr int64_t kLargestBase = int64_t{1} << 62;  // ns; an event's time can be added

// Converts a decimal number of microseconds to ns exactly. Returns nullopt if it is not a number or
// too large.
std::optional<int64_t> Nanoseconds(std::string_view text) {
  if (text.find_first_of("eE") != std::string_view::npos) {
    const double value = std::strtod(std::string(text).c_str(), nullptr);
    if (!(std::abs(value) <= static_cast<double>(kLargestTime))) return {};
    return std::llround(value * 1000);
  }
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int64_t whole = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (parsed.ec != std::errc() || whole > kLargestTime) return {};
  text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
  int64_t fraction = 0;
  for (size_t digit = 1; digit <= 3; ++digit) {
    const bool there = digit < text.size();
    fraction = fraction * 10 + (there ? text[digit] - '0' : 0);
  }
  const int64_t value = whole * 1000 + fraction;
  return negative ? -value : value;
}

// SAX handler for nlohmann::json.
class Handler {
 public:
  Handler(const GzipInput& input, const std::string& path,
          const std::function<void(KinetoEvent&)>& take)
      : input_(input), path_(path), take_(take) {}

  const KinetoHeader& header() const { return header_; }

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool binary(Json::binary_t&) { return true; }
  bool number_integer(int64_t value) { return Number(value, std::to_string(value)); }
  bool number_unsigned(uint64_t value) {
    return Number(static_cast<int64_t>(value), std::to_string(value));
  }
  bool number_float(double value, const std::string& text) {
    return Number(std::abs(value) < 1e18 ? static_cast<int64_t>(value) : 0, text);
  }

  bool string(std::string& text) {
    if (depth_ == 3 && InEvents()) {
      if (std::string* field = FindText(keys_[3])) field->swap(text);
    } else if (depth_ == 4 && InEvents() && keys_[3] == "args") {
      if (keys_[4] == "dtype") event_.element_type.swap(text);
    } else if (depth_ == 3 && keys_[1] == "deviceProperties" && keys_[3] == "name") {
      header_.devices.push_back(text);
    }
    return true;
  }

  bool key(std::string& text) {
    if (depth_ < static_cast<int>(keys_.size())) keys_[static_cast<size_t>(depth_)].swap(text);
    return true;
  }

  bool start_object(size_t) {
    Enter();
    if (depth_ == 3 && InEvents()) event_ = {};
    return true;
  }
  bool end_object() {
    if (depth_ == 3 && InEvents()) take_(event_);
    --depth_;
    return true;
  }
  bool start_array(size_t) {
    if (depth_ == 0) throw Foreign("it is a list");
    Enter();
    if (depth_ == 2 && InEvents()) header_.events = true;
    return true;
  }
  bool end_array() {
    --depth_;
    return true;
  }

  bool parse_error(size_t position, const std::string& token, const std::exception&) {
    if (input_.ended() && position >= input_.bytes()) {
      throw Error(
          ErrorKind::kCorrupt, format("it ends too early, after {} bytes of text", input_.bytes()),
          {.path = path_}, "the profiler was still writing it, or it was cut: write it again");
    }
    throw Error(
        ErrorKind::kCorrupt,
        format("invalid JSON at byte {} of its text, at \"{}\"", position, token.substr(0, 40)),
        {.path = path_}, "give a trace as PyTorch's export_chrome_trace() writes it");
  }

  Error Foreign(const std::string& why) const {
    return Error(ErrorKind::kUnsupported, "not a trace of PyTorch's profiler: " + why,
                 {.path = path_}, "give one as its export_chrome_trace() writes it");
  }

 private:
  bool InEvents() const { return keys_[1] == "traceEvents"; }

  // Clears the key of this level (list elements have none); keys of the levels above stay.
  void Enter() {
    ++depth_;
    if (depth_ < static_cast<int>(keys_.size())) keys_[static_cast<size_t>(depth_)].clear();
  }

  std::string* FindText(std::string_view key) {
    if (key == "ph") return &event_.phase;
    if (key == "cat") return &event_.category;
    if (key == "name") return &event_.name;
    return nullptr;
  }

  std::optional<int64_t>* FindArgument(std::string_view key) {
    if (key == "device" || key == "inDevice") return &event_.device;
    if (key == "stream") return &event_.stream;
    if (key == "bytes") return &event_.bytes;
    if (key == "In msg nelems") return &event_.elements;
    return nullptr;
  }

  bool Number(int64_t value, std::string_view text) {
    if (depth_ == 4 && InEvents() && keys_[3] == "args") {
      if (auto* field = FindArgument(keys_[4])) *field = value;
    } else if (depth_ == 3 && InEvents()) {
      EventNumber(value, text);
    } else if (depth_ == 2 && keys_[1] == "distributedInfo") {
      if (keys_[2] == "rank") header_.rank = static_cast<int>(value);
      if (keys_[2] == "world_size") header_.world_size = static_cast<int>(value);
    } else if (depth_ == 1) {
      if (keys_[1] == "schemaVersion") header_.schema = true;
      if (keys_[1] == "baseTimeNanoseconds" && value <= kLargestBase) header_.base_time = value;
    }
    return true;
  }

  void EventNumber(int64_t value, std::string_view text) {
    const std::string& key = keys_[3];
    if (key == "ts") event_.begin = Time(text, kEarliest, kLargestTime);
    if (key == "dur") event_.duration = Time(text, -kLongest, kLongest);
    if (key == "pid") event_.process = value;
    if (key == "tid") event_.thread = value;
  }

  int64_t Time(std::string_view text, int64_t least, int64_t most) const {
    const auto time = Nanoseconds(text);
    if (time && *time >= least * 1000 && *time <= most * 1000) return *time;
    throw Error(ErrorKind::kCorrupt,
                format("event \"{}\" has a time of {} us", event_.name.substr(0, 80), text),
                {.path = path_});
  }

  const GzipInput& input_;
  const std::string& path_;
  const std::function<void(KinetoEvent&)>& take_;
  KinetoHeader header_;
  KinetoEvent event_;
  int depth_ = 0;
  std::array<std::string, 5> keys_;  // by depth, from 1
};

}  // namespace

KinetoHeader ReadKinetoJson(const std::string& path,
                            const std::function<void(KinetoEvent& event)>& take) {
  GzipInput input(path);
  std::istream stream(&input);
  Handler handler(input, path, take);
  Json::sax_parse(stream, &handler);
  if (!handler.header().events) throw handler.Foreign("it has no \"traceEvents\"");
  return handler.header();
}

}  // namespace recpack::probe

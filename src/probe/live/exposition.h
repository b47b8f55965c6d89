// Prometheus' text format, version 0.0.4.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recpack::probe {

// A text that grows family by family. What is not known is not there.
class Exposition {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  // Labels that every sample has.
  explicit Exposition(Labels labels) : labels_(std::move(labels)) {}

  // What follows is of this name. Its two lines are there with its first sample. The name of a
  // counter ends with _total.
  void Family(std::string_view name, std::string_view help);
  // One that is no number is left out.
  void Sample(std::optional<double> value, const Labels& more = {});
  // A family of one sample.
  void Single(std::string_view name, std::string_view help, std::optional<double> value);

  const std::string& text() const noexcept { return text_; }

 private:
  Labels labels_;
  std::string name_;
  std::string head_;  // of the family, until it is written
  std::string text_;
};

}  // namespace recpack::probe

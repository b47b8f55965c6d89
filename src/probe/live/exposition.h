// Writer for Prometheus' text format, version 0.0.4.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recpack::probe {

// Appends metric families to a text. Unknown values are left out.
class Exposition {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  // `labels`: added to every sample.
  explicit Exposition(Labels labels) : labels_(std::move(labels)) {}

  // Begins a family. Its HELP and TYPE lines are written before its first sample. A name that ends
  // with _total is a counter, any other a gauge.
  void Family(std::string_view name, std::string_view help);
  // Adds a sample. Does nothing if the value is missing or not finite.
  void Sample(std::optional<double> value, const Labels& more = {});
  // Adds a family with one sample.
  void Single(std::string_view name, std::string_view help, std::optional<double> value);

  const std::string& text() const noexcept { return text_; }

 private:
  Labels labels_;
  std::string name_;
  std::string head_;  // HELP and TYPE lines of the family, until they are written
  std::string text_;
};

}  // namespace recpack::probe

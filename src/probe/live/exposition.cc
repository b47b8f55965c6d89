#include "src/probe/live/exposition.h"

#include <cmath>

#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack::probe {
namespace {

// Escapes a label value. If it is not UTF-8, replaces non-ASCII bytes with '?': a reader would
// reject the whole text otherwise.
std::string Escaped(std::string_view value) {
  const bool is_utf8 = IsUtf8(value);
  std::string escaped;
  for (const char c : value) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (c == '"' || c == '\\') {
      escaped += {'\\', c};
    } else {
      escaped += is_utf8 || static_cast<unsigned char>(c) < 0x80 ? c : '?';
    }
  }
  return escaped;
}

void Append(const Exposition::Labels& labels, std::string& text) {
  for (const auto& [name, value] : labels) {
    text += format("{}{}=\"{}\"", text.empty() ? "" : ",", name, Escaped(value));
  }
}

}  // namespace

void Exposition::Family(std::string_view name, std::string_view help) {
  name_ = name;
  head_ = format("# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                 name.ends_with("_total") ? "counter" : "gauge");
}

void Exposition::Sample(std::optional<double> value, const Labels& more) {
  if (!value || !std::isfinite(*value)) return;
  text_ += std::exchange(head_, {});
  std::string labels;
  Append(labels_, labels);
  Append(more, labels);
  text_ += format("{}{{{}}} {}\n", name_, labels, *value);
}

void Exposition::Single(std::string_view name, std::string_view help, std::optional<double> value) {
  Family(name, help);
  Sample(value);
}

}  // namespace recpack::probe

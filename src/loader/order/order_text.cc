// Names of orders, as flags and tokens have them.
#include <charconv>
#include <string_view>

#include "recpack/base/error.h"
#include "recpack/loader/order.h"
#include "src/base/format.h"

namespace recpack {
namespace {

[[noreturn]] void RefuseOrder(const std::string& text) {
  throw Error(ErrorKind::kInvalidArgument, format("unknown order '{}'", text), {},
              "choose auto, sequential, global, window or window:BLOCK:LANES:WINDOW");
}

uint32_t Number(const std::string& whole, std::string_view& text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value == 0) RefuseOrder(whole);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string OrderText(const OrderSpec& spec) {
  switch (spec.kind) {
    case OrderKind::kSequential:
      return "sequential";
    case OrderKind::kGlobal:
      return "global";
    case OrderKind::kWindow:
      if (spec.block_records == 0) return "window";
      return format("window:{}:{}:{}", spec.block_records, spec.lanes, spec.window_blocks);
    default:
      return "auto";
  }
}

OrderSpec ParseOrder(const std::string& text) {
  OrderSpec spec;
  if (text == "auto") return spec;
  spec.kind = OrderKind::kSequential;
  if (text == "sequential") return spec;
  spec.kind = OrderKind::kGlobal;
  if (text == "global") return spec;
  spec.kind = OrderKind::kWindow;
  std::string_view rest = text;
  if (!rest.starts_with("window")) RefuseOrder(text);
  rest.remove_prefix(6);
  for (uint32_t* number : {&spec.block_records, &spec.lanes, &spec.window_blocks}) {
    if (rest.empty()) break;
    if (rest.front() != ':') RefuseOrder(text);
    rest.remove_prefix(1);
    *number = Number(text, rest);
  }
  if (!rest.empty()) RefuseOrder(text);
  return spec;
}

}  // namespace recpack

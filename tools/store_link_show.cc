#include <algorithm>
#include <cmath>
#include <set>

#include "src/base/format.h"
#include "tools/store_link.h"

namespace recpack::tool {
namespace {

constexpr double kServes = 0.8;  // of the best rate

std::string RangeText(const StoreLink& link, uint64_t bytes) {
  return BytesText(bytes) + (bytes == link.record_bytes ? " (a record)" : "");
}

std::string RateCell(const LinkRate& rate) {
  if (rate.requests == 0) return "none answered";
  return format("{}/s {:.0f} ms{}", BytesText(rate.bytes_per_second),
                std::ceil(1e3 * rate.first_byte), rate.throttled > 0 ? " *" : "");
}

std::string FindCell(const StoreLink& link, uint64_t range_bytes, int at_once) {
  for (const LinkRate& rate : link.rates) {
    if (rate.range_bytes == range_bytes && rate.at_once == at_once) return RateCell(rate);
  }
  return "-";  // too much
}

// Samples per second of a rate.
std::string PerSecond(const StoreLink& link, const LinkRate& rate) {
  const auto records = rate.bytes_per_second / static_cast<double>(link.record_bytes);
  return CountText(static_cast<uint64_t>(records));
}

std::string OrderAdvice(const StoreLink& link) {
  const auto single = link.single_records();
  const LinkRate& best = link.best();
  if (!single) return "";
  const std::string rates = format("{} samples/s in global order, {} in window order",
                                   PerSecond(link, *single), PerSecond(link, best));
  if (single->bytes_per_second >= kServes * best.bytes_per_second) {
    return format("Either order serves this link: up to {}.\n", rates);
  }
  return format("Use window order: up to {}.\n", rates);
}

}  // namespace

std::string LinkText(const StoreLink& link) {
  std::string text = format("link to {}\n  {:<20}", link.object, "range, at a time");
  std::set<int> columns;
  std::set<uint64_t> rows;
  uint64_t throttled = 0, failed = 0;
  for (const LinkRate& rate : link.rates) {
    columns.insert(rate.at_once);
    rows.insert(rate.range_bytes);
    throttled += rate.throttled;
    failed += rate.failed;
  }
  for (const int column : columns) text += format(" {:>18}", column);
  for (const uint64_t row : rows) {
    text += format("\n  {:<20}", RangeText(link, row));
    for (const int column : columns) text += format(" {:>18}", FindCell(link, row, column));
  }
  text += "\n  (bytes a second of all together, and the median time to the first byte)\n";
  if (throttled > 0) {
    text +=
        format("* {} answers were 429 or 503: the store allows no more.\n", CountText(throttled));
  }
  if (failed > 0) text += format("{} requests failed in other ways.\n", CountText(failed));
  const LinkRate& enough = link.enough();
  text += format("Ranges of {} with {} at a time give {} % of the best rate or more.\n",
                 BytesText(enough.range_bytes), enough.at_once, std::lround(100 * kServes));
  return text + OrderAdvice(link);
}

Json LinkJson(const StoreLink& link) {
  Json json = {{"object", link.object}, {"rates", Json::array()}};
  for (const LinkRate& rate : link.rates) {
    json["rates"].push_back({{"range_bytes", rate.range_bytes},
                             {"at_once", rate.at_once},
                             {"requests", rate.requests},
                             {"bytes_per_s", rate.bytes_per_second},
                             {"first_byte_s", rate.first_byte},
                             {"throttled", rate.throttled},
                             {"failed", rate.failed}});
  }
  json["best_bytes_per_s"] = link.best().bytes_per_second;
  json["enough"] = {{"range_bytes", link.enough().range_bytes}, {"at_once", link.enough().at_once}};
  if (const auto single = link.single_records()) {
    const bool any = single->bytes_per_second >= kServes * link.best().bytes_per_second;
    json["record_bytes"] = link.record_bytes;
    json["order"] = any ? "any" : "window";
  }
  return json;
}

}  // namespace recpack::tool

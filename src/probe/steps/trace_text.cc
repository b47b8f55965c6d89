#include <algorithm>

#include "src/base/format.h"
#include "src/probe/steps/trace_summary.h"
#include "src/probe/util/wrapped.h"

namespace recpack::probe {
namespace {

// Formats a time with five digits and a unit, as nvprof does.
std::string TimeText(double nanoseconds) {
  constexpr struct {
    const char* unit;
    double size;
  } kUnits[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
  for (const auto& [unit, size] : kUnits) {
    if (nanoseconds < size && size > 1) continue;
    const double value = nanoseconds / size;
    const int decimals = size == 1 ? 0 : value < 10 ? 4 : value < 100 ? 3 : value < 1000 ? 2 : 0;
    return format("{:.{}f}{}", value, decimals, unit);
  }
  return {};
}

// Returns the row's name without its class, which has a column of its own.
std::string NameBesideClass(const TraceRow& row) {
  const std::string& operation = row.operation;
  const bool begins = !operation.empty() && row.name.starts_with(operation + " ");
  return Printable(begins ? row.name.substr(operation.size() + 1) : row.name);
}

}  // namespace

std::string TraceTableText(const TraceTable& table, size_t rows) {
  constexpr const char* kLine = "{:>8} {:>11} {:>9} {:>11} {:>11} {:>11}  {}{}\n";
  const size_t shown = std::min(rows, table.rows.size());
  size_t widest = 0;  // of the classes of operation; 0: there are none
  for (size_t i = 0; i < shown; ++i) widest = std::max(widest, table.rows[i].operation.size());
  const auto column = [&](const std::string& operation) {
    return widest == 0 ? std::string() : format("{:<{}}  ", operation, std::max<size_t>(widest, 9));
  };
  std::string text = format("{}:\n", table.title);
  text +=
      format(kLine, "Time(%)", "Time", "Calls", "Avg", "Min", "Max", column("Operation"), "Name");
  for (size_t i = 0; i < shown; ++i) {
    const TraceRow& row = table.rows[i];
    const double share =
        table.time == 0 ? 0
                        : 100.0 * static_cast<double>(row.time) / static_cast<double>(table.time);
    text +=
        format(kLine, format("{:.2f}%", share), TimeText(static_cast<double>(row.time)), row.calls,
               TimeText(row.average()), TimeText(static_cast<double>(row.min)),
               TimeText(static_cast<double>(row.max)), column(row.operation), NameBesideClass(row));
  }
  if (shown < table.rows.size()) {
    text += format("... and {} more names\n", table.rows.size() - shown);
  }
  return text;
}

}  // namespace recpack::probe

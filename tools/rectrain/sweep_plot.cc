#include <algorithm>

#include "recpack/base/text.h"
#include "src/base/format.h"
#include "tools/rectrain/sweep_report.h"

namespace recpack::tool {
namespace {

// In SVG units.
constexpr int kRow = 24, kBar = 16, kTop = 36, kBars = 400, kFigure = 90, kLetter = 7;

std::string Label(const SweepReport& report, const SweepRow& row) {
  std::string text;
  for (size_t i = 0; i < row.names.size(); ++i) {
    if (report.setting.at("axes").at(report.plan.axes[i]).size() == 1) continue;
    text += (text.empty() ? "" : " · ") + row.names[i];
  }
  return text.empty() ? report.setting.at("model").get<std::string>() : text;
}

std::string SvgText(int x, int y, const char* anchor, const std::string& text) {
  return format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                EscapedMarkup(text));
}

}  // namespace

std::string DrawPlot(const SweepReport& report) {
  const std::vector<SweepRow> rows = ToRows(report);
  double most = 1;
  size_t letters = 1;
  for (const SweepRow& row : rows) {
    most = std::max(most, row.timing.samples_per_second);
    letters = std::max(letters, Label(report, row).size());
  }
  const int left = 20 + kLetter * static_cast<int>(letters);
  const int width = left + kBars + kFigure;
  const int height = kTop + kRow * static_cast<int>(rows.size()) + 10;
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n",
      width, height, width, height);
  svg += SvgText(left, 20, "start", "samples a second");
  int y = kTop;
  for (const SweepRow& row : rows) {
    const int bar = static_cast<int>(kBars * row.timing.samples_per_second / most);
    svg += SvgText(left - 8, y + 12, "end", Label(report, row));
    if (row.error.empty()) {
      svg += format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#4878a8\"/>\n", left,
                    y, bar, kBar);
      svg += SvgText(left + bar + 6, y + 12, "start",
                     CountText(static_cast<uint64_t>(row.timing.samples_per_second + 0.5)));
    } else {
      svg += SvgText(left, y + 12, "start", "failed");
    }
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace recpack::tool

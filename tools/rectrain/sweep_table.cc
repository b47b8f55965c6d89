#include <algorithm>

#include "src/base/format.h"
#include "tools/rectrain/sweep_report.h"

namespace recpack::tool {
namespace {

std::string Line(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (std::string cell : cells) {
    std::replace(cell.begin(), cell.end(), '\n', ' ');
    std::replace(cell.begin(), cell.end(), '|', '/');
    text += " " + cell + " |";
  }
  return text + "\n";
}

// Whether one model's operations are placed in different ways: such a model exchanges no variables.
bool ComparesPlacements(const SweepReport& report) {
  return report.setting.at("axes").contains("placement");
}

std::vector<std::string> Heads(bool placements) {
  if (!placements) {
    return {"samples/s", "to the first", "wait for input", "wait for the exchange",
            "exchanged a step"};
  }
  return {"samples/s",       "to the first",    "wait for input", "s an epoch",
          "copies an epoch", "copied an epoch", "time copying"};
}

std::vector<std::string> Cells(const SweepRow& row, bool placements) {
  std::vector<std::string> cells(Heads(placements).size(), "–");
  cells[0] = "failed: " + row.error;
  if (!row.error.empty()) return cells;
  const train::StepTiming& timing = row.timing;
  cells = {CountText(static_cast<uint64_t>(timing.samples_per_second + 0.5)),
           format("{:.2f}×", row.ratio), Percent(timing.input_wait_seconds / timing.step_seconds)};
  if (placements) {
    cells.push_back(format("{:.2f}", timing.step_seconds * timing.epoch_steps));
    cells.push_back(CountText(static_cast<uint64_t>(timing.copies * timing.epoch_steps + 0.5)));
    cells.push_back(BytesText(timing.copy_bytes * timing.epoch_steps));
    cells.push_back(Percent(timing.copy_seconds / timing.step_seconds));
  } else {
    cells.push_back(Percent(timing.exchange_wait_seconds / timing.step_seconds));
    cells.push_back(BytesText(static_cast<uint64_t>(timing.exchange_bytes)));
  }
  return cells;
}

std::string CellText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The setting, without axes that have columns: "resnet: width 16, classes 10; batch size 128; ...".
std::string Common(const SweepReport& report) {
  const Json& setting = report.setting;
  std::string text = CellText(setting.at("model"));
  for (const auto& [name, value] : setting.at("sizes").items()) {
    text += format(", {} {}", name, CellText(value));
  }
  text += format("; {} samples of each device a step", CellText(setting.at("batch_size")));
  for (const auto& [name, values] : setting.at("axes").items()) {
    if (values.size() == 1) text += format("; {} {}", name, CellText(values[0]));
  }
  return text + format(". {}, {}, {} threads; medians of {} rounds of {} steps, in turns.\n",
                       report.date, CellText(setting.at("machine").at("cpu")),
                       CellText(setting.at("machine").at("threads")),
                       CellText(setting.at("rounds")), CellText(setting.at("steps")));
}

}  // namespace

std::string ToMarkdown(const SweepReport& report) {
  std::vector<size_t> shown;  // axes with a choice
  for (size_t i = 0; i < report.plan.axes.size(); ++i) {
    if (report.setting.at("axes").at(report.plan.axes[i]).size() > 1) shown.push_back(i);
  }
  const auto line = [&](const std::vector<std::string>& names,
                        const std::vector<std::string>& figures) {
    std::vector<std::string> cells;
    cells.reserve(shown.size() + figures.size());
    for (const size_t i : shown) cells.push_back(names[i]);
    cells.insert(cells.end(), figures.begin(), figures.end());
    return Line(cells);
  };
  const bool placements = ComparesPlacements(report);
  const std::vector<std::string> heads = Heads(placements);
  std::string text = line(report.plan.axes, heads);
  text += Line(std::vector<std::string>(shown.size() + heads.size(), "---"));
  for (const SweepRow& row : ToRows(report)) text += line(row.names, Cells(row, placements));
  text += "\n" + Common(report);
  if (!report.plan.left_out.empty()) text += "\nLeft out:\n\n";
  for (const std::string& each : report.plan.left_out) text += "- " + each + "\n";
  return text;
}

}  // namespace recpack::tool

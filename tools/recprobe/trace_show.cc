#include "tools/recprobe/trace_show.h"

#include "src/base/format.h"

namespace recpack::tool {
namespace {

// "10 us", "1 s"
std::string Length(int64_t ns) {
  if (ns >= 1'000'000'000) return format("{} s", ns / 1'000'000'000);
  return ns >= 1'000'000 ? format("{} ms", ns / 1'000'000) : format("{} us", ns / 1000);
}

// Number and total time of the device's gaps, by length.
std::string Gaps(const probe::DeviceUse& use) {
  std::string text;
  for (size_t i = 0; i < use.gaps.size(); ++i) {
    const probe::DeviceUse::GapClass& gaps = use.gaps[i];
    if (gaps.gaps == 0) continue;
    const auto limit = probe::DeviceUse::GapLimit(i);
    text += format("{}{} {} ({:.3f} ms)", text.empty() ? "" : ", ", gaps.gaps,
                   limit ? "below " + Length(*limit) : "of 1 s and more",
                   static_cast<double>(gaps.time) * 1e-6);
  }
  return text.empty() ? text : "  gaps: " + text + "\n";
}

std::string Text(const probe::DeviceUse& use) {
  const auto share = [&](int64_t time) {
    return use.duration() > 0
               ? 100.0 * static_cast<double>(time) / static_cast<double>(use.duration())
               : 0.0;
  };
  std::string text = format(
      "device {} of process {}, over {:.3f} ms: kernels {:.1f} %, copies {:.1f} % ({:.0f} % of "
      "them "
      "while kernels ran), neither {:.1f} %\n",
      use.device, use.process, static_cast<double>(use.duration()) * 1e-6, share(use.kernels),
      share(use.copies), 100 * use.overlap(), share(use.idle));
  text += Gaps(use);
  if (use.longest.empty()) return text;
  text += "  longest gaps:";
  for (const probe::DeviceGap& gap : use.longest) {
    text += format(" {:.3f} ms", static_cast<double>(gap.end - gap.begin) * 1e-6);
  }
  return text + "\n";
}

}  // namespace

std::string TraceText(const probe::TraceSummary& summary, size_t rows) {
  std::string text;
  for (const probe::DeviceUse& use : summary.devices) text += "\n" + Text(use);
  for (const probe::TraceTable& table : summary.tables)
    text += "\n" + probe::TraceTableText(table, rows);
  return text;
}

}  // namespace recpack::tool

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

// Share of the device's time.
double TimeShare(const probe::DeviceUse& use, int64_t time) {
  return use.duration() > 0 ? static_cast<double>(time) / static_cast<double>(use.duration()) : 0.0;
}

// How many kernels ran at once, and for how long.
std::string AtOnce(const probe::DeviceUse& use) {
  if (use.kernels == 0) return {};
  std::string text =
      format("  kernels at once, on {} {}: {:.2f} on average while any ran;", use.streams,
             use.streams == 1 ? "stream" : "streams", use.mean_at_once());
  for (size_t i = 0; i < use.at_once.size(); ++i) {
    if (use.at_once[i] == 0) continue;
    text += format(" {}{} for {},", i, i == probe::DeviceUse::kMostAtOnce ? " and more" : "",
                   Percent(TimeShare(use, use.at_once[i])));
  }
  text.back() = '\n';
  return text;
}

std::string Text(const probe::DeviceUse& use) {
  const auto share = [&](int64_t time) { return Percent(TimeShare(use, time)); };
  std::string text = format(
      "device {} of process {}, over {:.3f} ms: kernels {}, copies {} ({} of them "
      "while kernels ran), neither {}\n",
      use.device, use.process, static_cast<double>(use.duration()) * 1e-6, share(use.kernels),
      share(use.copies), Percent(use.overlap(), 0), share(use.idle));
  text += AtOnce(use) + Gaps(use);
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

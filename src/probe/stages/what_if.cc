#include "src/probe/stages/what_if.h"

#include <algorithm>
#include <cmath>

#include "src/base/format.h"

namespace recpack::probe {
namespace {

constexpr int kShorterSide = 256;
constexpr double kLandscape = 4.0 / 3;  // assumed width / height if only the area is known
constexpr double kWorth = 0.95;         // of the decoding time: a change above it is left out
constexpr double kSegmentWidth = 64, kSegmentHeight = 16;  // pixels, of `pack --jpeg tile`
constexpr int kMostCopies = 8;

// Work per sample relative to now, if decoding takes `factor` of its time.
double WorkWith(const LoaderWork& work, const ceiling::LoaderCost& cost, double factor) {
  return cost.work > 0 ? 1 - StageCost(work, Stage::kDecode) * (1 - factor) / cost.work : 1;
}

// Without a measurement on the data, bytes and pixels scale with the area.
ResizeEffect EstimateResize(const MeanPicture& picture, const Ceilings& ceilings) {
  if (ceilings.resize) return *ceilings.resize;
  const double shorter = std::sqrt(picture.pixels / kLandscape);
  const double area = std::min(1.0, std::pow(kShorterSide / shorter, 2));
  return {.shorter = kShorterSide,
          .bytes = area,
          .seconds = ceilings.decode.Seconds(picture.coded * area, picture.made * area) /
                     ceilings.decode.Seconds(picture.coded, picture.made)};
}

// Only segments that overlap a crop of the mean size have to be read.
double TiledFactor(const MeanPicture& picture, const ceiling::DecodeCost& decode) {
  const double side = std::sqrt(picture.made);
  const double share =
      std::min(1.0, (side + kSegmentWidth) * (side + kSegmentHeight) / picture.pixels);
  const double coded = std::min(picture.coded, share * picture.bytes);
  return decode.Seconds(coded, picture.made) / decode.Seconds(picture.coded, picture.made);
}

}  // namespace

std::vector<LoaderVariant> ListChanges(const LoaderWork& work, const ceiling::LoaderCost& cost,
                                       const Ceilings& ceilings) {
  std::vector<LoaderVariant> changes;
  const bool cold = cost.input > 0 && !InputIsFromMemory(work, ceilings);
  const auto add = [&](std::string text, const ceiling::LoaderChange& change, Stage helps) {
    changes.push_back({std::move(text), change, helps});
    const int threads = (change.threads > 0 ? change.threads : cost.threads) * change.copies;
    const double rate = cold ? ceilings.Rate(kReadCold, threads) : 0;
    changes.back().change.read_ceiling = rate / StoredBytes(work);
  };
  for (int threads = 1;; threads = std::min(2 * threads, ceilings.cores)) {
    add(format("{} thread{}", threads, threads == 1 ? "" : "s"), {.threads = threads},
        Stage::kRoom);
    if (threads >= ceilings.cores) break;
  }
  const double read = StageCost(work, Stage::kRead);
  add("`--cache records`: all of them in memory",
      {.work = cost.work > 0 ? 1 - read / cost.work : 1, .input = 0, .bytes = 0},
      cold ? Stage::kInput : Stage::kRead);
  const MeanPicture picture = AveragePicture(work);
  if (picture.count > 0) {
    add("`--cache pictures`: all of them in memory", {.work = WorkWith(work, cost, 0)},
        Stage::kDecode);
    const ResizeEffect resize = EstimateResize(picture, ceilings);
    if (resize.seconds < kWorth) {
      add(format("`recpack pack --resize {}`", resize.shorter),
          {.work = WorkWith(work, cost, resize.seconds),
           .input = resize.bytes,
           .bytes = resize.bytes},
          Stage::kDecode);
    }
    const double tiled = TiledFactor(picture, ceilings.decode);
    if (tiled < kWorth) {
      add("`recpack pack --jpeg tile`", {.work = WorkWith(work, cost, tiled)}, Stage::kDecode);
    }
  }
  for (int copies = 2; copies <= std::min(kMostCopies, std::max(2, ceilings.cores)); copies *= 2) {
    add(format("{} ranks on these cores, together", copies), {.copies = copies}, Stage::kRoom);
  }
  return changes;
}

}  // namespace recpack::probe

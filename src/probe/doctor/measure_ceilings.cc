#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/ceiling/pictures.h"
#include "src/ceiling/scratch_file.h"
#include "src/probe/doctor/ceilings.h"

namespace recpack::probe {
namespace {

using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr int kRounds = 3;
constexpr double kMeasurements = 28;  // with one thread or all threads
constexpr double kMeasuring = 0.5;    // of the time; the rest is preparation and Scaling::Measure()
constexpr Seconds kShortest{0.01}, kLongest{0.2};
constexpr int kCallsAtATime = 32;
constexpr size_t kRandomBytes = 4096;
constexpr uint64_t kScratchBytes = uint64_t{256} << 20;
constexpr double kScratchTime = 0.1;             // of the time
constexpr size_t kCrcBytes = size_t{100} << 10;  // record of a typical photograph
constexpr int kShorterSide = 256;

std::vector<ByteView> Views(const std::vector<ByteBuffer>& buffers) {
  return {buffers.begin(), buffers.end()};
}

double TotalBytes(const std::vector<ByteBuffer>& buffers) {
  double bytes = 0;
  for (const ByteBuffer& buffer : buffers) bytes += static_cast<double>(buffer.size());
  return bytes;
}

class Measuring {
 public:
  explicit Measuring(const MeasureOptions& options)
      : options_(options),
        each_(std::clamp(options.time * kMeasuring / (kMeasurements * kRounds), kShortest,
                         kLongest)) {}

  Ceilings All() {
    MeasureStorage();
    MeasureMemory();
    MeasurePictures();
    MeasureGpus();
    const ceiling::Scaling scaling = ceiling::Scaling::Measure(options_.cores, options_.memory);
    result_.scaling = scaling.points();
    result_.store_bytes_per_second = scaling.bytes_per_second();
    result_.cores = options_.cores;
    return std::move(result_);
  }

 private:
  template <typename Measure>
  ceiling::Spread With(int threads, Measure measure) const {
    const ceiling::CeilingOptions options{.threads = threads,
                                          .time = std::chrono::duration_cast<milliseconds>(each_),
                                          .memory = options_.memory};
    return ceiling::MeasureSpread(kRounds, [&] { return measure(options); });
  }

  template <typename Measure>
  Ceiling& Add(const char* name, const char* unit, int threads, Measure measure) {
    Ceiling ceiling{.name = name, .unit = unit, .threads = threads};
    ceiling.one = With(1, measure);
    ceiling.all = threads == 1 ? ceiling.one : With(threads, measure);
    return result_.rates.emplace_back(std::move(ceiling));
  }

  void MeasureStorage() {
    std::vector<std::string> files = options_.files;
    std::optional<ceiling::ScratchFile> scratch;
    std::string how = "the data's files";
    if (files.empty()) {
      try {
        scratch = ceiling::ScratchFile::OnDisk(
            options_.folder, kScratchBytes,
            std::chrono::duration_cast<milliseconds>(options_.time * kScratchTime));
        files = {scratch->path()};
        how = "a scratch file in " + options_.folder;
      } catch (const Error& error) {
        Missing(kReadCold, "B/s", error.what());
        return Missing(kReadRandom, "reads/s", error.what());
      }
    }
    const auto [access, note] = ColdAccess(files);
    const int threads = access == ceiling::FileAccess::kDirect ? options_.cores : 1;
    Add(kReadCold, "B/s", threads, [&, way = access](const ceiling::CeilingOptions& with) {
      return ceiling::ReadCeiling(files, way, with);
    }).how = how + note;
    const int calls = access == ceiling::FileAccess::kDirect ? kCallsAtATime : 1;
    Add(kReadRandom, "reads/s", calls, [&, way = access](const ceiling::CeilingOptions& with) {
      return ceiling::RandomReadCeiling(files, kRandomBytes, way, with);
    }).how = how + note;
  }

  // Bypasses the page cache if possible, else drops the files from it.
  std::pair<ceiling::FileAccess, std::string> ColdAccess(
      const std::vector<std::string>& files) const {
    const ceiling::CeilingOptions shortly{.time = milliseconds(1)};
    const ceiling::Rate direct = ceiling::ReadCeiling(files, ceiling::FileAccess::kDirect, shortly);
    if (direct.measured())
      return {ceiling::FileAccess::kDirect, ", bypassing the page cache (O_DIRECT)"};
    return {ceiling::FileAccess::kDropped,
            ", dropped from the page cache because " + direct.unavailable};
  }

  void MeasureMemory() {
    const int cores = options_.cores;
    try {
      const ceiling::ScratchFile file = ceiling::ScratchFile::InMemory(kScratchBytes / 4);
      const std::vector<std::string> files = {file.path()};
      Add(kReadCached, "B/s", cores, [&](const ceiling::CeilingOptions& with) {
        return ceiling::ReadCeiling(files, ceiling::FileAccess::kCached, with);
      }).how = "pread of pages in memory";
    } catch (const Error& error) {
      Missing(kReadCached, "B/s", error.what());
    }
    Add(kMemcpy, "B/s", cores, ceiling::CopyCeiling);
    Add(kMemset, "B/s", cores, ceiling::StoreCeiling);
    Add(kCrc, "B/s", cores,
        [](const ceiling::CeilingOptions& with) { return ceiling::CrcCeiling(kCrcBytes, with); });
    std::optional<ceiling::ScratchFile> made;
    std::string shard = options_.compressed;
    try {
      if (shard.empty())
        shard = made.emplace(ceiling::ScratchFile::CompressedShard(400, 10'000)).path();
    } catch (const Error&) {  // InflateCeiling() reports it
    }
    Add(kInflate, "B/s", cores, [&](const ceiling::CeilingOptions& with) {
      return ceiling::InflateCeiling(shard, with);
    }).how = made ? "GZIP of synthetic text; output bytes" : "the data; output bytes";
  }

  void MeasureGpus() {
    const ceiling::CudaDeviceCount count = ceiling::CountCudaDevices(options_.cuda);
    if (count.devices == 0) {
      Missing(kPinnedCopy, "B/s", count.reason);
      return Missing(kKernelLaunch, "launches/s", count.reason);
    }
    Add(kPinnedCopy, "B/s", count.devices, [&](const ceiling::CeilingOptions& with) {
      return ceiling::PinnedCopyCeiling(with, options_.cuda);
    }).how = "one GPU, and all GPUs at the same time";
    Add(kKernelLaunch, "launches/s", count.devices, [&](const ceiling::CeilingOptions& with) {
      return ceiling::LaunchCeiling(with, options_.cuda);
    }).how = "an empty kernel, on one GPU and on all GPUs";
  }

  void Missing(const char* name, const char* unit, const std::string& reason) {
    const ceiling::Spread none{.unavailable = reason};
    result_.rates.push_back({.name = name, .unit = unit, .one = none, .all = none});
  }

  // Mean cost of a picture on one core. Returns nullopt if it could not be measured.
  std::optional<ceiling::DecodePoint> MeasurePoint(const std::vector<ByteBuffer>& pictures) const {
    const std::vector<ByteView> views = Views(pictures);
    const auto count = static_cast<double>(pictures.size());
    const ceiling::Spread rate = With(
        1, [&](const ceiling::CeilingOptions& with) { return ceiling::JpegCeiling(views, with); });
    if (!rate.measured()) return std::nullopt;
    return ceiling::DecodePoint{TotalBytes(pictures) / count, ceiling::CountPixels(views) / count,
                                1 / rate.value};
  }

  void AddPictures(const char* name, const std::vector<ByteBuffer>& pictures) {
    const std::vector<ByteView> views = Views(pictures);
    const auto count = static_cast<double>(pictures.size());
    Add(name, "pictures/s", options_.cores,
        [&](const ceiling::CeilingOptions& with) { return ceiling::JpegCeiling(views, with); })
        .how =
        format("whole pictures of {:.2f} megapixels and {:.0f} kB",
               1e-6 * ceiling::CountPixels(views) / count, 1e-3 * TotalBytes(pictures) / count);
  }

  void MeasurePictures() {
    constexpr size_t kCount = 6;
    const auto photos = ceiling::NoisePictures(kCount, {500, 375}, 90);
    AddPictures(kJpeg, photos);
    std::vector<ceiling::DecodePoint> points;
    for (const auto& pictures : {photos, ceiling::NoisePictures(kCount, {500, 375}, 40),
                                 ceiling::NoisePictures(kCount, {96, 72}, 90)}) {
      if (const auto point = MeasurePoint(pictures)) points.push_back(*point);
    }
    result_.decode = ceiling::FitDecodeCost(points);
    if (!options_.pictures.empty()) MeasureData();
  }

  // Scales all terms of the cost alike: pictures of one kind cannot tell the terms apart.
  void MeasureData() {
    try {
      AddPictures(kDataJpeg, options_.pictures);
      const auto point = MeasurePoint(options_.pictures);
      if (!point) return;
      const double factor = point->seconds / result_.decode.Seconds(point->bytes, point->pixels);
      result_.decode = {result_.decode.picture * factor, result_.decode.byte * factor,
                        result_.decode.pixel * factor};
      const auto resized = ceiling::ResizedPictures(Views(options_.pictures), kShorterSide);
      if (const auto smaller = MeasurePoint(resized)) {
        result_.resize = {.shorter = kShorterSide,
                          .bytes = smaller->bytes / point->bytes,
                          .seconds = smaller->seconds / point->seconds};
      }
    } catch (const Error& error) {
      result_.rates.back().one.unavailable = error.what();
      result_.rates.back().all.unavailable = error.what();
    }
  }

  const MeasureOptions& options_;
  const Seconds each_;
  Ceilings result_;
};

}  // namespace

Ceilings MeasureCeilings(const MeasureOptions& options) {
  double load = 0;
  ::getloadavg(&load, 1);
  Ceilings ceilings = Measuring(options).All();
  ceilings.load = load;
  ceilings.measured_at = std::chrono::duration_cast<std::chrono::seconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
  return ceilings;
}

const Ceiling* Ceilings::Find(std::string_view name) const {
  const auto found = std::ranges::find(rates, name, &Ceiling::name);
  return found == rates.end() ? nullptr : &*found;
}

double Ceilings::Rate(std::string_view name, int threads) const {
  const Ceiling* ceiling = Find(name);
  if (ceiling == nullptr || !ceiling->one.measured() || !ceiling->all.measured()) return 0;
  const int most = ceiling->threads;
  if (most <= 1 || threads <= 1) return ceiling->one.value;
  const double part = std::min(1.0, static_cast<double>(threads - 1) / (most - 1));
  return ceiling->one.value + part * (ceiling->all.value - ceiling->one.value);
}

}  // namespace recpack::probe

#include "recpack/kernels/finish.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/finish.h"
#include "kernels/host/finish_plan.h"
#include "recpack/base/error.h"

namespace recpack {
namespace {

constexpr int kMaxSide = 1 << 16;

[[noreturn]] void RefuseFinish(const std::string& reason, const std::string& advice) {
  throw Error(ErrorKind::kInvalidArgument, "finishing an image: " + reason, {}, advice);
}

void CheckSide(const char* name, int side) {
  if (side >= 1 && side <= kMaxSide) return;
  RefuseFinish(std::string(name) + " is " + std::to_string(side),
               "give a size from 1 to " + std::to_string(kMaxSide));
}

void CheckType(ElementType type) {
  for (const auto allowed :
       {ElementType::kU8, ElementType::kF16, ElementType::kBf16, ElementType::kF32}) {
    if (type == allowed) return;
  }
  RefuseFinish(std::string("the element type is ") + ElementName(type),
               "give u8, f16, bf16 or f32");
}

void CheckChannels(int channels) {
  if (channels < 1 || channels > 4) {
    RefuseFinish("channels is " + std::to_string(channels), "give 1 to 4 channels");
  }
}

// A channel's values are finite if those for 0 and 255 are.
void CheckFactors(const FinishOptions& o) {
  for (size_t c = 0; c < static_cast<size_t>(o.channels); ++c) {
    const float last = Normalise(255, o.scale[c], o.bias[c]);
    if (std::isfinite(o.bias[c]) && std::isfinite(255 * o.scale[c]) && std::isfinite(last)) {
      continue;
    }
    RefuseFinish("scale " + std::to_string(o.scale[c]) + " and bias " + std::to_string(o.bias[c]) +
                     " of channel " + std::to_string(c) + " give values that are not finite",
                 "give finite factors; a standard deviation must be above 0");
  }
}

FinishPath PathFor(const FinishOptions& options, CpuLevel level) {
#if defined(__x86_64__)
  level = std::min(level, ActiveCpu());
  if (level == CpuLevel::kAvx512) return Avx512Finish(options);
  if (level == CpuLevel::kAvx2) return Avx2Finish(options);
#elif defined(__aarch64__)
  if (level == CpuLevel::kNeon && ActiveCpu() == CpuLevel::kNeon) return NeonFinish(options);
#endif
  return PortableFinish(options);
}

bool IsPlanar(ImageLayout layout) { return layout == ImageLayout::kNchw; }

void SetFactors(FinishPlan& plan) {
  const auto channels = static_cast<size_t>(plan.options.channels);
  for (size_t i = 0; i < channels * kFinishStep; ++i) {
    const size_t row = i / kFinishStep, channel = plan.planes > 1 ? row : i % channels;
    plan.scale[row][i % kFinishStep] = plan.options.scale[channel];
    plan.bias[row][i % kFinishStep] = plan.options.bias[channel];
  }
}

void SetFill(FinishPlan& plan) {
  const FinishOptions& o = plan.options;
  const auto width = static_cast<size_t>(o.out_width), channels = static_cast<size_t>(o.channels);
  plan.fill.resize(plan.planes * plan.row_bytes);
  for (size_t i = 0; i < width * channels; ++i) {
    const size_t channel = plan.planes > 1 ? i / width : i % channels;
    StoreElement(o.type, o.fill, o.scale[channel], o.bias[channel], plan.fill.data(), i);
  }
}

FinishPlan MakePlan(const FinishOptions& options, CpuLevel level) {
  FinishPlan plan{.options = options, .path = PathFor(options, level)};
  const auto channels = static_cast<size_t>(options.channels);
  plan.planes = IsPlanar(options.out_layout) ? channels : 1;
  plan.row_bytes = static_cast<size_t>(options.out_width) * ElementBytes(options.type) *
                   (channels / plan.planes);
  plan.plane_bytes = plan.row_bytes * static_cast<size_t>(options.out_height);
  SetFactors(plan);
  SetFill(plan);
  return plan;
}

// Part of an axis where the source covers the result: elements [begin, begin + count) of the result
// come from `source` on, in order or (if flipped) reversed.
struct Span {
  int begin = 0;
  int count = 0;
  int source = 0;
};

Span FindSpan(int64_t at, int in, int out, bool flip) {
  const int64_t low = std::max<int64_t>(0, -at), high = std::min<int64_t>(out, in - at);
  if (high <= low) return {};
  return {static_cast<int>(flip ? out - high : low), static_cast<int>(high - low),
          static_cast<int>(at + low)};
}

FinishJob MakeJob(const FinishPlan& plan, const Span& rows, const Span& columns,
                  const uint8_t* image, uint8_t* out, bool flip) {
  const FinishOptions& o = plan.options;
  const auto channels = static_cast<size_t>(o.channels);
  const size_t in_pixel = IsPlanar(o.in_layout) ? 1 : channels;
  const size_t out_pixel = ElementBytes(o.type) * (channels / plan.planes);
  FinishJob job{};
  job.flip = flip;
  job.rows = static_cast<size_t>(rows.count);
  job.count = static_cast<size_t>(columns.count);
  job.in_row = static_cast<size_t>(o.in_width) * in_pixel;
  job.in_plane = job.in_row * static_cast<size_t>(o.in_height);
  job.left = static_cast<size_t>(columns.begin) * out_pixel;
  job.right = plan.row_bytes - job.left - job.count * out_pixel;
  job.from = image + static_cast<size_t>(rows.source) * job.in_row +
             static_cast<size_t>(columns.source) * in_pixel;
  job.to = out + static_cast<size_t>(rows.begin) * plan.row_bytes;
  if (!flip && job.left + job.right == 0 && job.count * in_pixel == job.in_row) {
    job.count *= job.rows;
    job.rows = 1;
  }
  return job;
}

void FinishElements(const FinishOptions& o, const uint8_t* image, const FinishGeometry& geometry,
                    void* out) {
  for (int y = 0; y < o.out_height; ++y) {
    for (int x = 0; x < o.out_width; ++x) {
      for (int c = 0; c < o.channels; ++c) FinishElement(o, image, geometry, c, y, x, out);
    }
  }
}

void Finish(const FinishPlan& plan, const uint8_t* image, const FinishGeometry& geometry,
            uint8_t* out) {
  const FinishOptions& o = plan.options;
  const auto height = static_cast<size_t>(o.out_height);
  const Span rows = FindSpan(geometry.y, o.in_height, o.out_height, false);
  const Span columns = FindSpan(geometry.x, o.in_width, o.out_width, geometry.flip);
  if (rows.count == 0 || columns.count == 0) {
    return plan.path.fill(plan, height, out);
  }
  const FinishJob job = MakeJob(plan, rows, columns, image, out, geometry.flip);
  if (job.count < kFinishStep) return FinishElements(o, image, geometry, out);
  const auto above = static_cast<size_t>(rows.begin);
  const size_t end = above + static_cast<size_t>(rows.count);
  plan.path.fill(plan, above, out);
  plan.path.finish(plan, job);
  plan.path.fill(plan, height - end, out + end * plan.row_bytes);
}

}  // namespace

void CheckFinish(const FinishOptions& o) {
  CheckSide("in_height", o.in_height);
  CheckSide("in_width", o.in_width);
  CheckSide("out_height", o.out_height);
  CheckSide("out_width", o.out_width);
  CheckChannels(o.channels);
  CheckType(o.type);
  if (o.type != ElementType::kU8) CheckFactors(o);
}

FinishOptions MeanStd(FinishOptions options, const double* mean, const double* std) {
  CheckChannels(options.channels);
  for (size_t c = 0; c < static_cast<size_t>(options.channels); ++c) {
    if (!std::isfinite(mean[c]) || !std::isfinite(std[c]) || std[c] <= 0) {
      RefuseFinish("mean " + std::to_string(mean[c]) + " and standard deviation " +
                       std::to_string(std[c]) + " of channel " + std::to_string(c),
                   "give finite means and deviations above 0");
    }
    options.scale[c] = static_cast<float>(1 / (255 * std[c]));
    options.bias[c] = static_cast<float>(-mean[c] / std[c]);
  }
  return options;
}

Finisher::Finisher(const FinishOptions& options) : Finisher(options, ActiveCpu()) {}

Finisher::Finisher(const FinishOptions& options, CpuLevel level) {
  CheckFinish(options);
  plan_ = std::make_shared<const FinishPlan>(MakePlan(options, level));
}

size_t Finisher::out_bytes() const noexcept { return plan_->planes * plan_->plane_bytes; }

void Finisher::operator()(const uint8_t* image, const FinishGeometry& geometry,
                          void* out) const noexcept {
  Finish(*plan_, image, geometry, static_cast<uint8_t*>(out));
}

}  // namespace recpack

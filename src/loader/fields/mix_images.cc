// Mixup and cutmix as in torchvision's references/classification/transforms.py.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "recpack/base/error.h"
#include "recpack/kernels/mix.h"
#include "recpack/loader/field.h"
#include "src/base/format.h"
#include "src/loader/batch/batch_worker.h"
#include "src/loader/image/beta.h"

namespace recpack {
namespace {

void Check(const MixImages& mix) {
  if (mix.classes == 0) Refuse("mixing images needs the number of classes", "give `classes`");
  for (const double alpha : {mix.mixup_alpha, mix.cutmix_alpha}) {
    if (!(alpha >= 0 && alpha <= 1e6)) {
      Refuse(format("invalid mixing alpha {}", alpha), "choose 0 (none) or more");
    }
  }
  if (!(mix.probability >= 0 && mix.probability <= 1)) {
    Refuse(format("invalid mixing probability {}", mix.probability), "choose 0 to 1");
  }
}

// Returns the type of images.
ElementType PixelType(const ArraySpec& image) {
  const bool integer = image.type == ElementType::kI32 || image.type == ElementType::kI64 ||
                       image.type == ElementType::kU64;
  if (integer) {
    Refuse(format("array '{}' is {}, which is not a type of pictures", image.name,
                  ElementName(image.type)),
           "name an array of pictures");
  }
  return image.type;
}

// Tells whether the channels (1 to 4) come first; otherwise they come last.
bool IsPlanar(const ArraySpec& image) {
  if (image.shape.size() != 3 || (image.shape[0] <= 4) == (image.shape[2] <= 4)) {
    Refuse(format("array '{}' does not have the shape of pictures", image.name),
           "name one of 1 to 4 channels, first or last, and sides above 4");
  }
  return image.shape[0] <= 4;
}

class Mixer final : public BatchWorker {
 public:
  Mixer(const MixImages& mix, const std::vector<ArraySpec>& arrays)
      : mix_((Check(mix), mix)),
        stream_(FunctionStream(RandomStream::kMix, mix.stream)),
        type_(PixelType(FindArray(arrays, mix.image))) {
    const ArraySpec& image = FindArray(arrays, mix.image);
    if (std::ranges::find(arrays, mix.image + "_geometry", &ArraySpec::name) != arrays.end()) {
      Refuse(format("array '{}' is left for a device to finish", mix.image),
             "finish it on the host: mixing comes after it");
    }
    const bool planar = IsPlanar(image);
    planes_ = planar ? image.shape[0] : 1;
    rows_ = image.shape[planar ? 1 : 0];
    columns_ = image.shape[planar ? 2 : 1];
    pixel_bytes_ = ElementBytes(image.type) * (planar ? 1 : image.shape[2]);
    sample_bytes_ = image.sample_bytes;
    const ArraySpec& label = FindArray(arrays, mix.label);
    if (!label.shape.empty() ||
        (label.type != ElementType::kI64 && label.type != ElementType::kI32)) {
      Refuse(format("array '{}' holds no labels", mix.label), "labels are one i64 or i32 a sample");
    }
    wide_label_ = label.type == ElementType::kI64;
  }

  std::vector<ArraySpec> Arrays() const override {
    return DeclaredArrays(
        {{.name = mix_.target, .type = ElementType::kF32, .shape = {mix_.classes}}}, "mixing");
  }
  uint32_t stream() const override { return stream_; }

  void Work(BatchView& batch) const override {
    WriteTargets(batch);
    KeyedRandom& random = batch.random;
    const bool wanted = random.NextUnit() < mix_.probability;
    const bool second = (random.NextU32() & 1) != 0;
    const auto x = static_cast<int>(random.NextBelow(columns_));
    const auto y = static_cast<int>(random.NextBelow(rows_));
    const bool any = mix_.mixup_alpha > 0 || mix_.cutmix_alpha > 0;
    if (!wanted || !any || batch.size == 0) return;
    const bool cut = mix_.mixup_alpha > 0 && mix_.cutmix_alpha > 0 ? second : mix_.cutmix_alpha > 0;
    const double share = DrawBeta(cut ? mix_.cutmix_alpha : mix_.mixup_alpha, random);
    uint8_t* const images = batch.Raw(mix_.image);
    if (cut) {
      const double left = CutAll(images, batch.size, x, y, share);
      MixAll(ElementType::kF32, left, batch.Raw(mix_.target), batch.size, mix_.classes * 4);
    } else {
      MixAll(type_, share, images, batch.size, sample_bytes_);
      MixAll(ElementType::kF32, share, batch.Raw(mix_.target), batch.size, mix_.classes * 4);
    }
  }

 private:
  void WriteTargets(BatchView& batch) const {
    auto* targets = batch.Data<float>(mix_.target);
    std::fill_n(targets, size_t{batch.size} * mix_.classes, 0.0F);
    for (uint32_t i = 0; i < batch.size; ++i) {
      const int64_t label = wide_label_ ? batch.Data<int64_t>(mix_.label)[i]
                                        : int64_t{batch.Data<int32_t>(mix_.label)[i]};
      if (label < 0 || label >= int64_t{mix_.classes}) {
        Refuse(
            format("record {} has the label {}, of {} classes", batch.ids[i], label, mix_.classes),
            "labels count from 0; give `classes` as many as there are");
      }
      targets[size_t{i} * mix_.classes + static_cast<size_t>(label)] = 1;
    }
  }

  // Calls work(sample, partner), where the partner is the unmodified previous sample.
  template <typename Work>
  static void WithPartners(uint8_t* samples, uint32_t count, size_t bytes, Work work) {
    const uint8_t* last = samples + (count - 1) * bytes;
    const std::vector<uint8_t> partner_of_first(last, last + bytes);
    for (uint32_t i = count - 1; i > 0; --i) work(samples + i * bytes, samples + (i - 1) * bytes);
    work(samples, partner_of_first.data());
  }

  static void MixAll(ElementType type, double share, uint8_t* samples, uint32_t count,
                     size_t bytes) {
    WithPartners(samples, count, bytes, [&](uint8_t* own, const uint8_t* other) {
      MixInto(type, share, own, other, bytes / ElementBytes(type));
    });
  }

  // Copies the part of the rectangle around (x, y) that lies inside from the partner. Returns the
  // share that stays.
  double CutAll(uint8_t* images, uint32_t count, int x, int y, double share) const {
    const auto width = static_cast<int>(columns_), height = static_cast<int>(rows_);
    const double half = 0.5 * std::sqrt(1 - share);
    const int half_width = static_cast<int>(half * width);
    const int half_height = static_cast<int>(half * height);
    const int left = std::max(x - half_width, 0), right = std::min(x + half_width, width);
    const int top = std::max(y - half_height, 0), bottom = std::min(y + half_height, height);
    WithPartners(images, count, sample_bytes_, [&](uint8_t* own, const uint8_t* other) {
      for (uint32_t plane = 0; plane < planes_; ++plane) {
        for (int row = top; row < bottom; ++row) {
          const size_t first = (size_t{plane} * rows_ + row) * columns_ + left;
          std::memcpy(own + first * pixel_bytes_, other + first * pixel_bytes_,
                      static_cast<size_t>(right - left) * pixel_bytes_);
        }
      }
    });
    return 1 - static_cast<double>(right - left) * (bottom - top) /
                   (static_cast<double>(width) * height);
  }

  MixImages mix_;
  uint32_t stream_;
  ElementType type_;
  uint32_t planes_ = 0, rows_ = 0, columns_ = 0;
  size_t pixel_bytes_ = 0;  // within a plane
  size_t sample_bytes_ = 0;
  bool wide_label_ = false;
};

}  // namespace

std::unique_ptr<BatchWorker> MakeMixer(const MixImages& mix, const std::vector<ArraySpec>& arrays) {
  return std::make_unique<Mixer>(mix, arrays);
}

}  // namespace recpack

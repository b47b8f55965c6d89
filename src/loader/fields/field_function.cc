// Field writer for user functions.
#include "recpack/base/error.h"
#include "recpack/loader/function_field.h"
#include "src/base/format.h"
#include "src/loader/batch/batch_worker.h"
#include "src/loader/fields/field_writer.h"

namespace recpack {
namespace {

class FunctionWriter final : public FieldWriter {
 public:
  explicit FunctionWriter(const FunctionField& field)
      : arrays_(DeclaredArrays(field.arrays, "a function")),
        call_(field.call),
        stream_(FunctionStream(RandomStream::kFunction, field.stream)) {
    if (arrays_.empty() || !call_) {
      throw Error(ErrorKind::kInvalidArgument, "a function field has no arrays, or no function", {},
                  "give it a call and what it writes");
    }
    if (field.picture) MakePicture(*field.picture);
    if (field.audio) {
      audio_ = MakeAudioWriter(*field.audio);
      audio_samples_ = audio_->Arrays()[0].sample_bytes / sizeof(float);
    }
  }

  std::vector<ArraySpec> Arrays() const override { return arrays_; }

  void Write(const SampleRecord& sample, SampleTools& tools,
             std::span<uint8_t* const> out) const override {
    SampleView view{.example = sample.example,
                    .id = sample.id,
                    .epoch = sample.epoch,
                    .position = sample.position,
                    .random = KeyedRandom(sample.epoch_seed, stream_, sample.position),
                    .out = out.first(arrays_.size()),
                    .picture = picture_ ? Picture(sample, tools) : PixelView{},
                    .crop = picture_ ? tools.crop : PictureCrop{},
                    .audio = audio_ ? Audio(sample, tools) : AudioPart{}};
    tools.Enter(Stage::kFunction);
    call_(view);
    tools.ResumeWriting();
  }

 private:
  void MakePicture(ImageField field) {
    field.type = ElementType::kU8;
    field.layout = ImageLayout::kNhwc;
    field.finish_on_device = false;
    picture_ = MakeImageWriter(field, false);
    picture_array_ = picture_->Arrays()[0];
  }

  PixelView Picture(const SampleRecord& sample, SampleTools& tools) const {
    tools.given.resize(picture_array_.sample_bytes);
    uint8_t* const pixels = tools.given.data();
    picture_->Write(sample, tools, {&pixels, 1});
    const auto extent = [&](size_t i) { return static_cast<int>(picture_array_.shape[i]); };
    return {pixels, extent(1), extent(0), extent(2), static_cast<size_t>(extent(1)) * extent(2)};
  }

  AudioPart Audio(const SampleRecord& sample, SampleTools& tools) const {
    tools.given_sound.resize(audio_samples_);
    uint8_t length[sizeof(int32_t)];  // which the part has, too
    uint8_t* const arrays[] = {reinterpret_cast<uint8_t*>(tools.given_sound.data()), length};
    audio_->Write(sample, tools, arrays);
    return tools.sound;
  }

  std::vector<ArraySpec> arrays_;
  std::function<void(SampleView&)> call_;
  uint32_t stream_;
  std::unique_ptr<FieldWriter> picture_;  // null: the function gets no image
  ArraySpec picture_array_;
  std::unique_ptr<FieldWriter> audio_;  // null: the function gets no sound
  size_t audio_samples_ = 0;
};

}  // namespace

std::unique_ptr<FieldWriter> MakeFunctionWriter(const FunctionField& field) {
  return std::make_unique<FunctionWriter>(field);
}

}  // namespace recpack

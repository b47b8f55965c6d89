// Field writers: write a sample's part of the arrays.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recpack/example/view.h"
#include "recpack/image/decode.h"
#include "recpack/image/jpeg_crop.h"
#include "recpack/image/plane_resize.h"
#include "recpack/image/resize.h"
#include "recpack/loader/batch.h"
#include "recpack/loader/field.h"
#include "src/loader/batch/stage_clock.h"
#include "src/loader/fields/kept_pictures.h"

namespace recpack {

struct SampleRecord {
  const ExampleView& example;
  uint64_t id;  // ordinal of the record
  uint64_t epoch;
  uint64_t epoch_seed;  // with position: key of the random numbers
  uint64_t position;    // in the epoch
};

// Decoders and buffers of one worker, reused across samples.
struct SampleTools {
  StageClock* clock = nullptr;  // null: time is not measured
  ImageDecoder decoder;
  JpegRegionDecoder region_decoder;
  JpegPlaneResizer plane_resizer;
  Resizer resizer;
  Image decoded;
  // Source of `decoded`, by address and decoding, valid for the current sample: several views of an
  // image decode it once.
  const uint8_t* decoded_from = nullptr;
  std::array<int, 3> decoded_shape = {};
  ImageDecoding decoded_how = {};
  KeptPictures kept;
  Image resized;
  Image cropped;
  Image augmented;
  Image scratch;
  ByteBuffer finished;
  ByteBuffer given;                // image for a user function
  PictureCrop crop;                // of the image that was written last
  std::vector<float> given_sound;  // for a user function
  AudioPart sound;                 // that was written last

  bool HasDecoded(ByteView bytes, const ImageField& field) const noexcept {
    return decoded_from == bytes.data() && decoded_shape == field.raw_shape &&
           decoded_how == field.decoding;
  }
  void SetDecoded(ByteView bytes, const ImageField& field) noexcept {
    decoded_from = bytes.data();
    decoded_shape = field.raw_shape;
    decoded_how = field.decoding;
  }

  // Enters the image's next stage. Outside of these stages the writer is in kWrite.
  void Enter(Stage stage, uint64_t bytes = 0) noexcept {
    if (clock != nullptr) clock->Enter(stage, bytes);
  }
  // Counts an image decoded from `bytes`, in kDecode.
  void CountPicture(ImageSize whole, ImageSize made, ByteView bytes, double coded_share) noexcept {
    if (clock == nullptr) return;
    const auto pixels = [](ImageSize size) {
      return static_cast<uint64_t>(size.width) * static_cast<uint64_t>(size.height);
    };
    const double coded = coded_share * static_cast<double>(bytes.size());
    clock->AddPicture({pixels(whole), pixels(made), static_cast<uint64_t>(coded)});
  }
  void ResumeWriting() noexcept {
    if (clock != nullptr) clock->Resume(Stage::kWrite);
  }
};

inline ArraySpec MakeArray(std::string name, ElementType type, std::vector<uint32_t> shape) {
  size_t bytes = ElementBytes(type);
  for (const uint32_t extent : shape) bytes *= extent;
  return {.name = std::move(name), .type = type, .shape = std::move(shape), .sample_bytes = bytes};
}

// Immutable and thread-safe. All arrays have a fixed size per sample.
class FieldWriter {
 public:
  virtual ~FieldWriter() = default;

  // The field's arrays, without offsets.
  virtual std::vector<ArraySpec> Arrays() const = 0;

  // `out[i]`: start of the sample's part of array i. Throws Error: kCorrupt if the record's content
  // is damaged, kInvalidArgument if it is not what the field requires.
  virtual void Write(const SampleRecord& sample, SampleTools& tools,
                     std::span<uint8_t* const> out) const = 0;
};

// Makes the writer for one of the loader's `fields`. Throws Error (kInvalidArgument) for an invalid
// field.
std::unique_ptr<FieldWriter> MakeFieldWriter(const Field& field, const std::vector<Field>& fields);

// Writers of a list of fields. Immutable and thread-safe.
class FieldWriters {
 public:
  // Throws Error (kInvalidArgument) for an invalid field.
  explicit FieldWriters(const std::vector<Field>& fields);

  const std::vector<ArraySpec>& arrays() const noexcept { return arrays_; }  // without offsets

  // As FieldWriter::Write(), for all arrays.
  void Write(const SampleRecord& sample, SampleTools& tools, std::span<uint8_t* const> out) const;

 private:
  std::vector<std::unique_ptr<FieldWriter>> writers_;
  std::vector<size_t> first_array_;  // per writer
  std::vector<ArraySpec> arrays_;
};

std::unique_ptr<FieldWriter> MakeImageWriter(const ImageField& field, bool shared);
std::unique_ptr<FieldWriter> MakeNumbersWriter(const NumbersField& field);
std::unique_ptr<FieldWriter> MakeBytesWriter(const BytesField& field);
std::unique_ptr<FieldWriter> MakeFunctionWriter(const FunctionField& field);
std::unique_ptr<FieldWriter> MakeMultiHotWriter(const MultiHotField& field);
std::unique_ptr<FieldWriter> MakeAudioWriter(const AudioField& field);

}  // namespace recpack

#include "recpack/loader/audio_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "recpack/base/error.h"
#include "recpack/example/builder.h"
#include "recpack/loader/loader.h"
#include "recpack/record/writer.h"
#include "tests/audio/wav_file.h"
#include "tests/base/error_of.h"
#include "tests/base/temporary_folder.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

float Scaled(int64_t sample) { return static_cast<float>(sample) / 32768; }

// Stereo: frame i of a sound of `frames` is i + 1 on the left and 1001 + i on the right.
ByteBuffer Stereo(int frames) {
  std::vector<int16_t> samples;
  for (int i = 0; i < frames; ++i) {
    samples.push_back(static_cast<int16_t>(1 + i));
    samples.push_back(static_cast<int16_t>(1001 + i));
  }
  return WavOf16(samples, 2);
}

// Records with one sound each, in feature `name`.
class Sounds {
 public:
  explicit Sounds(const std::vector<ByteBuffer>& files, const char* name = "audio") {
    RecordWriter writer(PosixFiles().Create(folder_ / "train-00000-of-00001.tfrecord"), {});
    for (const ByteBuffer& file : files) {
      ExampleBuilder example;
      example.AddBytes(name, file);
      example.AddInt64("label", 3);
      example.SerializeTo(writer.Begin(example.ByteSize()).data());
      writer.End();
    }
    writer.Finish(false);
  }

  static Sounds OfLengths(const std::vector<int>& lengths) {
    std::vector<ByteBuffer> files;
    for (const int length : lengths) files.push_back(Stereo(length));
    return Sounds(files);
  }

  Loader Load(std::vector<Field> fields, uint32_t batch_size, int threads = 2,
              const std::string& order = "sequential") const {
    LoaderOptions options{.fields = std::move(fields), .batch_size = batch_size, .seed = 5};
    options.threads = threads;
    options.order = ParseOrder(order);
    return Loader(Dataset::Open(folder_.path()), options);
  }

  const std::string& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

std::vector<float> Row(const Batch& batch, const std::string& name, uint32_t sample, size_t count) {
  const float* const first = batch.Data<float>(name) + sample * count;
  return {first, first + count};
}

TEST(AudioField, PadsWhatIsShorterAndCutsWhatIsLonger) {
  const Sounds sounds = Sounds::OfLengths({0, 2, 3, 9});
  Loader loader =
      sounds.Load({AudioField{.length = 3}, AudioField{.name = "both", .length = 3, .channels = 2},
                   AudioField{.name = "centre", .length = 3, .crop = AudioCrop::kCentre}},
                  4);
  const auto batch = loader.Next();
  EXPECT_THAT(batch->arrays()[0].shape, ElementsAre(3));
  EXPECT_THAT(batch->arrays()[2].shape, ElementsAre(2, 3));
  const auto mean = [](int i) { return Scaled(501 + i); };
  EXPECT_THAT(Row(*batch, "audio", 0, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(Row(*batch, "audio", 1, 3), ElementsAre(mean(0), mean(1), 0));
  EXPECT_THAT(Row(*batch, "audio", 2, 3), ElementsAre(mean(0), mean(1), mean(2)));
  EXPECT_THAT(Row(*batch, "audio", 3, 3), ElementsAre(mean(0), mean(1), mean(2)));
  EXPECT_THAT(Row(*batch, "centre", 3, 3), ElementsAre(mean(3), mean(4), mean(5)));
  EXPECT_THAT(Row(*batch, "both", 1, 6),
              ElementsAre(Scaled(1), Scaled(2), 0, Scaled(1001), Scaled(1002), 0));
  const auto* lengths = batch->Data<int32_t>("audio_length");
  EXPECT_THAT(std::vector<int32_t>(lengths, lengths + 4), ElementsAre(0, 2, 3, 3));
  EXPECT_EQ(batch->Data<int32_t>("both_length")[1], 2);
}

// The first frame of each part in a batch, by its first sample.
std::vector<int> Begins(const Batch& batch, const std::string& name, size_t length) {
  std::vector<int> begins;
  for (uint32_t i = 0; i < batch.size(); ++i) {
    begins.push_back(static_cast<int>(Row(batch, name, i, length)[0] * 32768) - 501);
  }
  return begins;
}

TEST(AudioField, RandomPartsAreThoseOfTheirView) {
  const Sounds sounds = Sounds::OfLengths(std::vector<int>(200, 14));
  AudioField part{.length = 10, .crop = AudioCrop::kRandom};
  std::vector<Field> fields = {part};
  part.name = "same";
  fields.emplace_back(part);
  part.name = "other";
  part.view = 1;
  fields.emplace_back(part);
  Loader loader = sounds.Load(fields, 200);
  const auto batch = loader.Next();
  const std::vector<int> begins = Begins(*batch, "audio", 10);
  EXPECT_EQ(Begins(*batch, "same", 10), begins);
  EXPECT_NE(Begins(*batch, "other", 10), begins);
  for (int begin = 0; begin <= 4; ++begin) {
    EXPECT_NEAR(static_cast<double>(std::ranges::count(begins, begin)), 40, 25)
        << "from the first to the last possible";
  }
  EXPECT_FALSE(loader.Next());
  EXPECT_NE(Begins(*loader.Next(), "audio", 10), begins) << "of another epoch";
}

TEST(AudioField, IsTheSameOnAnyThreadAndAfterResuming) {
  const Sounds sounds = Sounds::OfLengths({5, 40, 80, 11, 200, 33, 70, 12, 90, 41, 15});
  const std::vector<Field> fields = {
      AudioField{.length = 12, .crop = AudioCrop::kRandom},
      AudioField{
          .name = "both", .length = 20, .crop = AudioCrop::kRandom, .channels = 2, .view = 3}};
  Loader one = sounds.Load(fields, 3, 1, "global");
  const auto expected = Take(one, 12);
  Loader three = sounds.Load(fields, 3, 3, "global");
  EXPECT_EQ(Take(three, 12), expected);
  LoaderOptions options{.fields = fields, .batch_size = 3, .seed = 5};
  options.threads = 3;
  options.order = ParseOrder("global");
  options.resume = expected[4].token;
  Loader resumed(Dataset::Open(sounds.folder()), options);
  const auto rest = Take(resumed, 7);
  for (size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(rest[i].bytes, expected[5 + i].bytes) << i;
}

TEST(AudioField, FunctionsGetThePart) {
  const Sounds sounds = Sounds::OfLengths({4, 30, 31, 32});
  const AudioField part{.name = "", .length = 6, .crop = AudioCrop::kRandom, .channels = 2};
  FunctionField function{.arrays = {{.name = "copy", .type = ElementType::kF32, .shape = {2, 6}},
                                    {.name = "begin", .type = ElementType::kU64},
                                    {.name = "frames", .type = ElementType::kI32}},
                         .call =
                             [](SampleView& sample) {
                               const AudioPart& audio = sample.audio;
                               ASSERT_EQ(audio.channels, 2u);
                               ASSERT_EQ(audio.length, 6u);
                               EXPECT_EQ(audio.rate, 8000u);
                               std::memcpy(sample.out[0], audio.samples, 12 * sizeof(float));
                               std::memcpy(sample.out[1], &audio.begin, sizeof audio.begin);
                               std::memcpy(sample.out[2], &audio.frames, sizeof audio.frames);
                             },
                         .audio = part};
  AudioField plain = part;
  plain.name = "plain";
  Loader loader = sounds.Load({function, plain}, 4);
  const auto batch = loader.Next();
  EXPECT_EQ(0, std::memcmp(batch->Raw("copy"), batch->Raw("plain"), 4 * 12 * sizeof(float)));
  EXPECT_EQ(0, std::memcmp(batch->Raw("frames"), batch->Raw("plain_length"), 4 * sizeof(int32_t)));
  for (uint32_t i = 0; i < 4; ++i) {
    const auto begin = static_cast<int64_t>(batch->Data<uint64_t>("begin")[i]);
    EXPECT_EQ(Row(*batch, "copy", i, 12)[0], Scaled(1 + begin));
  }
}

TEST(AudioField, FindsTheSound) {
  for (const char* name : {"audio/encoded", "audio", "wav", "sound"}) {
    const Sounds sounds({Stereo(3)}, name);
    Loader loader = sounds.Load({AudioField{.length = 2}}, 1);
    EXPECT_EQ(loader.Next()->Data<int32_t>("audio_length")[0], 2) << name;
  }
  const Sounds named({Stereo(3)}, "speech");
  Loader loader = named.Load({AudioField{.feature = "speech", .length = 2}}, 1);
  EXPECT_EQ(loader.Next()->Data<int32_t>("audio_length")[0], 2);
  const Sounds encoded({Stereo(3)}, "audio/encoded");
  Loader by_other_name = encoded.Load({AudioField{.feature = "audio", .length = 2}}, 1);
  EXPECT_EQ(by_other_name.Next()->Data<int32_t>("audio_length")[0], 2);
}

TEST(AudioField, SaysWhatItDoesNotTake) {
  const auto error_of = [](const AudioField& field, const ByteBuffer& file,
                           const char* name = "audio") {
    const Sounds sounds({file}, name);
    Loader loader = sounds.Load({field}, 1);
    return ErrorOf([&] { loader.Next(); });
  };
  const auto expect = [](const Error& error, ErrorKind kind, auto matcher) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), matcher);
    EXPECT_EQ(error.place().ordinal, 0u);
  };
  const auto invalid = ErrorKind::kInvalidArgument;
  expect(error_of({.length = 3, .rate = 16000}, Stereo(3)), invalid,
         AllOf(HasSubstr("8000 frames per second"), HasSubstr("16000"), HasSubstr("resample")));
  expect(error_of({.length = 3, .channels = 3}, Stereo(3)), invalid,
         AllOf(HasSubstr("2 channels"), HasSubstr("takes 3")));
  expect(error_of({.length = 3}, Stereo(3), "speech"), invalid, HasSubstr("it has: label, speech"));
  expect(error_of({.feature = "label", .length = 3}, Stereo(3)), invalid, HasSubstr("kind int64"));
  ByteBuffer cut = Stereo(3);
  cut.pop_back();
  expect(error_of({.length = 3}, cut), ErrorKind::kCorrupt, HasSubstr("1 bytes of samples"));
  ByteBuffer flac(100);
  std::memcpy(flac.data(), "fLaC", 4);
  expect(error_of({.length = 3}, flac, "flac"), ErrorKind::kUnsupported, HasSubstr("FLAC"));
}

TEST(AudioField, DamagedSoundsMayBeSubstituted) {
  std::vector<ByteBuffer> files(20, Stereo(3));
  files[4].resize(50);
  const Sounds sounds(files);
  LoaderOptions options{.fields = {AudioField{.length = 3}}, .batch_size = 5, .seed = 5};
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 0.1;
  Loader loader(Dataset::Open(sounds.folder()), options);
  Take(loader, 4);
  ASSERT_EQ(loader.substitutions().size(), 1u);
  EXPECT_EQ(loader.substitutions()[0].bad, 4u);
}

TEST(AudioField, RefusesItsOptions) {
  const Sounds sounds({Stereo(3)});
  const auto reason = [&](const AudioField& field) {
    return std::string(ErrorOf([&] { sounds.Load({field}, 1); }).what());
  };
  EXPECT_THAT(reason({}), HasSubstr("has no length"));
  EXPECT_THAT(reason({.length = 3, .channels = 0}), HasSubstr("0 channels"));
  EXPECT_THAT(reason({.length = 3, .channels = 65536}), HasSubstr("65536 channels"));
  EXPECT_THAT(reason({.length = 1U << 31, .channels = 2}), HasSubstr("shorter part"));
  EXPECT_THAT(reason({.length = 3, .view = 65520}), HasSubstr("below 65520"));
  const FunctionField function{
      .arrays = {{.name = "x"}}, .call = [](SampleView&) {}, .audio = AudioField{}};
  EXPECT_THAT(ErrorOf([&] { sounds.Load({function}, 1); }).what(), HasSubstr("has no length"));
}

}  // namespace
}  // namespace recpack

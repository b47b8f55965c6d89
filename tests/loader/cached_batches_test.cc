// Loaders with a cache make the same batches as without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/example/builder.h"
#include "recpack/image/encode.h"
#include "recpack/image/jpeg_tile.h"
#include "recpack/loader/loader.h"
#include "recpack/record/writer.h"
#include "src/base/format.h"
#include "tests/base/error_of.h"
#include "tests/loader/settled.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint64_t kAmple = 16 << 20;
constexpr uint64_t kScarce = 40'000;

Image PictureOf(int seed, int width, int height) {
  Image picture;
  picture.Reshape(width, height, 3);
  for (size_t p = 0; p < picture.pixels.size(); ++p) {
    picture.pixels[p] = static_cast<uint8_t>(p * (seed % 11 + 3) / 50 + seed * 29);
  }
  return picture;
}

// A JPEG without its end, or with damaged tiles in the middle.
ByteBuffer Damaged(ByteView jpeg, bool at_end) {
  if (at_end) return {jpeg.begin(), jpeg.begin() + jpeg.size() * 2 / 3};
  ByteBuffer tiled = TileJpeg(jpeg);
  for (size_t i = tiled.size() / 2; i < tiled.size() * 3 / 4; ++i) tiled[i] = 0x5a;
  return tiled;
}

// Records with two pictures each, "image/encoded" (JPEGs and PNGs in turn) and "mask", and a label.
class Pictures {
 public:
  explicit Pictures(int records, int seed = 0, bool damaged = false) {
    static int count = 0;
    folder_ = fs::temp_directory_path() / format("recpack-cached-{}-{}", ::getpid(), ++count);
    fs::create_directories(folder_);
    RecordWriter writer(PosixFiles().Create(shard()), {});
    for (int i = 0; i < records; ++i) {
      const Image picture = PictureOf(seed + i, 40 + i % 13, 50);
      ByteBuffer file = i % 3 == 2 ? EncodePng(picture) : EncodeJpeg(picture);
      if (damaged && i % 6 == 0) file = Damaged(file, i % 12 == 0);
      const ByteBuffer mask = EncodeJpeg(PictureOf(seed + i + 5, 40 + i % 13, 50));
      ExampleBuilder example;
      example.AddBytes("image/encoded", file);
      example.AddBytes("mask", mask);
      example.AddInt64("label", i);
      example.SerializeTo(writer.Begin(example.ByteSize()).data());
      writer.End();
    }
    writer.Finish(false);
  }
  ~Pictures() { fs::remove_all(folder_); }
  Pictures(const Pictures&) = delete;
  Pictures& operator=(const Pictures&) = delete;

  std::string shard() const { return folder_ + "/train-00000-of-00001.tfrecord"; }
  Dataset dataset() const { return Dataset::Open(folder_); }

 private:
  std::string folder_;
};

ImageField Cropped(const char* name, CropKind crop = CropKind::kRandomResized) {
  return {.name = name,
          .height = 24,
          .width = 24,
          .crop = crop,
          .resize = 32,
          .flip = 0.5F,
          .type = ElementType::kU8};
}

// Fields with different features, crops and decoding.
std::vector<Field> ManyFields() {
  ImageField second = Cropped("second");
  second.view = 1;
  ImageField whole = Cropped("whole", CropKind::kResize);
  ImageField mask = Cropped("mask");
  mask.feature = "mask";
  ImageField blocky = Cropped("blocky");
  blocky.decoding.fancy_upsampling = false;
  ImageField scaled = Cropped("scaled");
  scaled.decoding.scaled = true;
  ImageField planes = Cropped("planes");
  planes.decoding.resize_planes = true;
  return {Cropped("first"), second, whole,  mask,
          blocky,           scaled, planes, NumbersField{.name = "label"}};
}

LoaderOptions CachedOptions(std::vector<Field> fields, int threads = 2) {
  return {.fields = std::move(fields), .batch_size = 10, .seed = 5, .threads = threads};
}

struct Given {
  std::vector<Taken> batches;
  std::vector<uint64_t> bad;
  CacheStats cache;
  uint64_t decoded = 0;
};

Given GivenBy(const Mixture& samples, LoaderOptions options, CacheOptions cache, size_t batches) {
  options.cache = cache;
  Loader loader(samples, options);
  Given run{.batches = Take(loader, batches)};
  for (const Substitution& each : loader.substitutions()) run.bad.push_back(each.bad);
  const LoaderStats stats = Settled(loader);
  run.decoded = stats.Total(Stage::kDecode).count;
  run.cache = loader.cache_stats();
  EXPECT_LE(run.cache.bytes, cache.budget_bytes);
  return run;
}

// Runs every cache kind, budget and number of threads.
void ExpectSameBatches(const Mixture& samples, LoaderOptions options, size_t batches,
                       std::vector<CacheKind> kinds = {CacheKind::kRecords, CacheKind::kPictures}) {
  const Given without = GivenBy(samples, options, {}, batches);
  EXPECT_EQ(without.cache.hits + without.cache.misses, 0u);
  for (const CacheKind kind : kinds) {
    for (const uint64_t budget : {kAmple, kScarce, uint64_t{1}}) {
      for (options.threads = 1; options.threads <= 4; ++options.threads) {
        const Given with = GivenBy(samples, options, {kind, budget}, batches);
        const std::string what = format("kind {}, {} bytes, {} threads", static_cast<int>(kind),
                                        budget, options.threads);
        EXPECT_TRUE(with.batches == without.batches) << what;
        EXPECT_EQ(with.bad, without.bad) << what;
        EXPECT_EQ(with.cache.hits > 0, budget > 1) << what;
        EXPECT_EQ(with.cache.kept > 0, budget > 1) << what;
      }
    }
  }
}

TEST(CachedBatches, AreTheSameOverEpochs) {
  const Pictures pictures(40);
  ExpectSameBatches(pictures.dataset(), CachedOptions(ManyFields()), 13);
}

TEST(CachedBatches, ReadEachRecordOnce) {
  const Pictures pictures(40);
  const Given run = GivenBy(pictures.dataset(), CachedOptions({Cropped("image")}, 1),
                            {CacheKind::kRecords, kAmple}, 20);
  EXPECT_EQ(run.cache.misses, 40u);
  EXPECT_EQ(run.cache.kept, 40u);
  EXPECT_EQ(run.cache.hits, (20 + 4) * 10 - 40u);  // includes prefetched batches
}

TEST(CachedBatches, DecodeEachPictureOnce) {
  const Pictures pictures(40);
  const Given run = GivenBy(pictures.dataset(), CachedOptions(ManyFields(), 1),
                            {CacheKind::kPictures, kAmple}, 20);
  // Cached once: pixels of the image, of the mask, and of the image without fancy upsampling.
  EXPECT_EQ(run.cache.kept, 3 * 40u);
  EXPECT_EQ(run.cache.misses, 3 * 40u);
  // Images decoded scaled or by planes are decoded each time.
  EXPECT_EQ(run.decoded, 3 * 40u + 2 * (20 + 4) * 10);
}

TEST(CachedBatches, OfAFullCacheAreHalfRead) {
  const Pictures pictures(40);
  for (const CacheKind kind : {CacheKind::kRecords, CacheKind::kPictures}) {
    const Given run =
        GivenBy(pictures.dataset(), CachedOptions({Cropped("image")}, 1), {kind, kScarce}, 20);
    EXPECT_GT(run.cache.kept, 2u);
    EXPECT_LT(run.cache.kept, 40u);
    EXPECT_EQ(run.cache.hits + run.cache.misses, (20 + 4) * 10u);
    EXPECT_EQ(run.cache.hits, run.cache.kept * ((20 + 4) * 10 / 40 - 1));
  }
}

TEST(CachedBatches, NeedTheirFilesNoMore) {
  const Pictures pictures(40);
  const auto options = CachedOptions(ManyFields());
  const Given without = GivenBy(pictures.dataset(), options, {}, 12);
  LoaderOptions cached = options;
  cached.cache = {CacheKind::kRecords, kAmple};
  Loader loader(pictures.dataset(), cached);
  std::vector<Taken> taken = Take(loader, 4);
  Settled(loader);
  fs::resize_file(pictures.shard(), 0);
  for (Taken& each : Take(loader, 8)) taken.push_back(std::move(each));
  EXPECT_TRUE(taken == without.batches);
}

TEST(CachedBatches, AreTheSameWithBadRecords) {
  const SmallSplit split(101);
  for (const uint64_t bad : {3, 50, 77}) split.Damage(bad);
  LoaderOptions options = CachedOptions(SmallFields());
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 1;
  ExpectSameBatches(Dataset::Open(split.folder()), options, 25, {CacheKind::kRecords});
}

// A part of a damaged image may be intact: errors and pixels are those of the part.
TEST(CachedBatches, AreTheSameWithDamagedPictures) {
  const Pictures pictures(40, 0, true);
  ImageField small = Cropped("image");
  small.area = {0.02, 0.1};
  LoaderOptions options = CachedOptions({small, NumbersField{.name = "label"}});
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 1;
  const Given run = GivenBy(pictures.dataset(), options, {}, 12);
  EXPECT_GT(run.bad.size(), 0u);
  EXPECT_LT(run.bad.size(), 21u);  // 7 damaged ones in each of three epochs
  ExpectSameBatches(pictures.dataset(), options, 12);

  // Views that find the whole image cached, with its damage, and views that do not.
  std::vector<Field> fields = ManyFields();
  ImageField again = Cropped("again"), other = Cropped("other", CropKind::kResize);
  fields.insert(fields.end() - 1, again);
  other.feature = "mask";
  fields.insert(fields.end() - 1, other);
  again.name = "last";
  again.area = {0.5, 1};
  fields.insert(fields.end() - 1, again);
  for (Field& field : fields) {
    if (auto* image = std::get_if<ImageField>(&field)) image->decoding.allow_damage = true;
  }
  ExpectSameBatches(pictures.dataset(), CachedOptions(fields), 12);
}

TEST(CachedBatches, OfMixedViewsAreToldApart) {
  const Pictures one(30), other(30, 500);
  const View part = View::Subset(one.dataset(), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Mixture mixture({{one.dataset(), 1},
                         {other.dataset(), 1},
                         {part, 0.5},
                         {View::ClassBalanced(other.dataset(), "label"), 0.5}});
  ExpectSameBatches(mixture, CachedOptions(ManyFields()), 20);
}

TEST(CachedBatches, GoOnFromAToken) {
  const Pictures pictures(40);
  LoaderOptions options = CachedOptions(ManyFields());
  const Given whole = GivenBy(pictures.dataset(), options, {}, 14);
  for (const CacheKind kind : {CacheKind::kRecords, CacheKind::kPictures}) {
    options.resume = whole.batches[5].token;
    const Given rest = GivenBy(pictures.dataset(), options, {kind, kScarce}, 8);
    EXPECT_TRUE(std::equal(rest.batches.begin(), rest.batches.end(), &whole.batches[6]));
  }
}

TEST(CachedBatches, WithoutACacheCountNothing) {
  const SmallSplit split(30);
  Loader loader(Dataset::Open(split.folder()), CachedOptions(SmallFields()));
  Settled(loader);
  EXPECT_EQ(loader.cache_stats().hits + loader.cache_stats().misses, 0u);
  EXPECT_EQ(loader.cache_stats().kept + loader.cache_stats().bytes, 0u);
}

TEST(CachedBatches, SayWhatCannotBe) {
  const Pictures pictures(20);
  const auto reason = [&](CacheOptions cache, std::vector<Field> fields) {
    LoaderOptions options = CachedOptions(std::move(fields));
    options.cache = cache;
    const Error error = ErrorOf([&] { Loader loader(pictures.dataset(), options); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return std::string(error.what());
  };
  const std::vector<Field> plain = {Cropped("image")};
  EXPECT_THAT(reason({CacheKind::kRecords, 0}, plain), HasSubstr("budget of 0 bytes"));
  EXPECT_THAT(reason({CacheKind::kPictures, 0}, plain), HasSubstr("budget of 0 bytes"));
  EXPECT_THAT(reason({CacheKind::kNone, 1000}, plain), HasSubstr("nothing to keep"));
  EXPECT_THAT(reason({CacheKind::kRecords, uint64_t{1} << 60}, plain), HasSubstr("reserved"));
  EXPECT_THAT(reason({CacheKind::kPictures, 1000}, SmallFields()), HasSubstr("raw"));
  ImageField scaled = Cropped("image");
  scaled.decoding.scaled = true;
  EXPECT_THAT(reason({CacheKind::kPictures, 1000}, {scaled}), HasSubstr("scaled"));
}

}  // namespace
}  // namespace recpack

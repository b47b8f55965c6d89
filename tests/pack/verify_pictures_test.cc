// Tests which values `verify --decode` takes for pictures and sounds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recpack/example/builder.h"
#include "recpack/image/encode.h"
#include "recpack/record/writer.h"
#include "src/pack/check/verify.h"
#include "tests/base/temporary_folder.h"
#include "tests/golden.h"

namespace recpack::pack {
namespace {

std::string Picture() {
  Image image;
  image.Reshape(8, 8, 3);
  return std::string(AsText(EncodeJpeg(image)));
}

// A row of pixels that is neither a picture nor text.
std::string Row(size_t bytes, int number) {
  std::string row(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i)
    row[i] = static_cast<char>(i * 7 + static_cast<size_t>(number));
  return row;
}

// Returns the findings for a shard whose records hold `values` in one feature.
std::vector<Finding> FindingsFor(const std::string& feature, const std::vector<std::string>& values,
                                 const std::string& format = "") {
  const TemporaryFolder folder;
  RecordWriter writer(PosixFiles().Create(folder / "train-00000-of-00001.tfrecord"), {});
  for (const std::string& value : values) {
    ExampleBuilder builder;
    builder.AddBytes(feature, AsBytes(value));
    if (!format.empty()) builder.AddBytes("image/format", AsBytes(format));
    std::string record(builder.ByteSize(), '\0');
    builder.SerializeTo(reinterpret_cast<uint8_t*>(record.data()));
    writer.Write(AsBytes(record));
  }
  writer.Finish(false);
  return Verify(FindLayout(folder.path()), {.threads = 1, .decode = true}).findings;
}

TEST(VerifyPicturesTest, NamesUnderWhichTheLoaderLooksForAPictureAreBelieved) {
  for (const std::string name : {"image/encoded", "image", "jpg", "png", "webp", "left.jpg"}) {
    EXPECT_TRUE(FindingsFor(name, {Picture(), Picture()}).empty()) << name;
    const auto findings = FindingsFor(name, {"hello hello", "hello, longer"});
    ASSERT_EQ(findings.size(), 2u) << name;
    EXPECT_NE(findings[0].reason.find("'" + name + "'"), std::string::npos) << findings[0].reason;
    EXPECT_EQ(findings[1].ordinal, 1u);
  }
}

TEST(VerifyPicturesTest, ATextAmongPicturesIsAFindingUnderAnyName) {
  for (const std::string name : {"image", "photo", "jpeg_bytes"}) {
    const auto findings = FindingsFor(name, {Picture(), "hello", Picture()});
    ASSERT_EQ(findings.size(), 1u) << name;
    EXPECT_EQ(findings[0].ordinal, 1u);
  }
}

TEST(VerifyPicturesTest, ArraysAndTextsAreNoDamage) {
  const std::vector<std::string> rows = {Row(3072, 0), Row(3072, 1), Row(3072, 2)};
  for (const std::string name : {"image", "image_raw", "mask"}) {
    EXPECT_TRUE(FindingsFor(name, rows).empty()) << name;
    EXPECT_TRUE(FindingsFor(name, {Row(10, 0), Row(300, 1)}).empty()) << name;
  }
  EXPECT_TRUE(FindingsFor("text", {"hello", "hello, longer", ""}).empty());
  EXPECT_TRUE(FindingsFor("thumbnail", {"", "", Picture()}).empty());
}

TEST(VerifyPicturesTest, AFormatThatIsNoPicturesIsBelieved) {
  EXPECT_TRUE(FindingsFor("image/encoded", {"hello"}, "TXT").empty());
  EXPECT_TRUE(FindingsFor("image", {"hello"}, "TXT").empty());
  EXPECT_EQ(FindingsFor("image/encoded", {"hello"}, "JPEG").size(), 1u);
}

TEST(VerifyPicturesTest, ASoundThatIsCutOffIsAFinding) {
  const ByteBuffer file = ReadWholeFile(PosixFiles(), GoldenPath("audio/s16.wav"));
  const std::string whole(AsText(file));
  EXPECT_TRUE(FindingsFor("audio/encoded", {whole, "no sound"}).empty());
  EXPECT_EQ(FindingsFor("audio/encoded", {whole, whole.substr(0, whole.size() - 9)}).size(), 1u);
  std::string a_law = whole;
  a_law[20] = 6;  // tag of its format, which is not read
  EXPECT_TRUE(FindingsFor("audio/encoded", {a_law}).empty());
}

TEST(VerifyPicturesTest, APictureThatIsCutOffIsAFindingUnderAnyName) {
  const std::string whole = Picture();
  const std::string cut = whole.substr(0, whole.size() / 3);
  EXPECT_EQ(FindingsFor("thumbnail", {"hello", "hello", cut}).size(), 1u);
}

}  // namespace
}  // namespace recpack::pack

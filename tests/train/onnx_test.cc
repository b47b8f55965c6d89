#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/cpu/quantised_network.h"
#include "src/train/models/onnx_model.h"
#include "tests/base/temporary_folder.h"
#include "tests/golden.h"
#include "tests/train/on_device.h"

namespace recpack::train {
namespace {

constexpr int64_t kCopies = 3, kOnnxSize = 16, kOnnxClasses = 5;

std::string PathTo(const std::string& name) { return GoldenPath("onnx/" + name); }

std::string TextOf(const std::string& path) {
  return std::string(AsText(ReadWholeFile(PosixFiles(), path)));
}

// The image of tests/golden/make_onnx.py, in each place of a batch.
std::vector<float> Images() {
  std::vector<float> images;
  for (int64_t image = 0; image < kCopies; ++image) {
    for (int64_t i = 0; i < 3 * kOnnxSize * kOnnxSize; ++i) {
      images.push_back(static_cast<float>(37 * i % 101) / 50 - 1);
    }
  }
  return images;
}

std::vector<float> ExpectedLogits(const std::string& name) {
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), PathTo(name + ".logits"));
  std::vector<float> logits(kOnnxClasses);
  std::memcpy(logits.data(), bytes.data(), kOnnxClasses * sizeof(float));
  return logits;
}

// A network of a file, with a batch.
class OnnxOnCpu : private BatchArrays {
 public:
  OnnxOnCpu(const std::string& path, ImageLayout layout)
      : ops_(MakeCpuOps({.threads = 1})), device_(ops_) {
    ops_.Attach();
    image_ = device_.Of(Images(), {kCopies, 3, kOnnxSize, kOnnxSize}, ElementType::kF32, layout);
    model_ = MakeOnnxModel({.ops = &ops_, .batch = kCopies, .layout = layout},
                           std::make_shared<const OnnxNetwork>(ReadOnnxNetwork(path)));
    model_->Build(0, 7);
    trace_ = ops_.Record([&] { model_->Forward(*this, nullptr, false, 0, &sums_); });
  }

  std::vector<float> Logits() {
    return device_.Floats(trace_.logits.As<float>(), static_cast<size_t>(trace_.logits.elements()));
  }
  std::vector<float> LogitsOfIntegers() {
    Calibration calibration(trace_);
    calibration.Observe(image_.As<float>());
    QuantisedNetwork network(trace_, calibration.Ranges(100));
    network.Run(image_.data);
    return Logits();
  }
  const LossSums& sums() const { return sums_; }
  Model& model() { return *model_; }
  void Backward() {
    model_->Backward(*this, [](size_t) {});
  }

 private:
  const void* Raw(const std::string& name) const override {
    return name == "image" ? image_.data : labels_.data();
  }

  TraceOps ops_;
  OnDevice device_;
  Tensor image_;
  std::vector<int64_t> labels_ = std::vector<int64_t>(kCopies, 2);
  std::unique_ptr<Model> model_;
  LossSums sums_;
  Trace trace_;
};

void ExpectLogits(const std::vector<float>& logits, const std::vector<float>& expected,
                  float tolerance) {
  ASSERT_EQ(logits.size(), expected.size() * kCopies);
  for (size_t i = 0; i < logits.size(); ++i) {
    EXPECT_NEAR(logits[i], expected[i % expected.size()], tolerance) << i;
  }
}

// Bytes of a file with the first `from` replaced by `to`, of the same length; in a file of its own.
class Changed {
 public:
  Changed(const std::string& name, const std::string& from, const std::string& to) {
    std::string text = TextOf(PathTo(name));
    EXPECT_EQ(from.size(), to.size());
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    std::ofstream(path()) << text;
  }
  std::string path() const { return folder_.path() + "/changed.onnx"; }

 private:
  TemporaryFolder folder_;
};

Error ErrorOfReading(const std::string& path) {
  try {
    ReadOnnxNetwork(path);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << path << " was read";
  return Error(ErrorKind::kIo, "");
}

TEST(Onnx, GivesTheLogitsOfPyTorchInEachLayout) {
  for (const char* name : {"residual", "norms", "external", "flatten"}) {
    for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
      SCOPED_TRACE(std::string(name) + (layout == ImageLayout::kNhwc ? " nhwc" : " nchw"));
      OnnxOnCpu network(PathTo(std::string(name) + ".onnx"), layout);
      ExpectLogits(network.Logits(), ExpectedLogits(name), 1e-5F);
      EXPECT_EQ(network.sums().samples, kCopies);
      EXPECT_EQ(network.model().Activity().back().value.shape, (Shape{kCopies, kOnnxClasses}));
    }
  }
}

TEST(Onnx, IsQuantisedLikeTheTrainersOwnNetworks) {
  for (const char* name : {"residual", "norms", "flatten"}) {
    SCOPED_TRACE(name);
    const std::vector<float> expected = ExpectedLogits(name);
    float most = 0;
    for (const float logit : expected) most = std::max(most, std::fabs(logit));
    const std::vector<float> logits =
        OnnxOnCpu(PathTo(std::string(name) + ".onnx"), ImageLayout::kNhwc).LogitsOfIntegers();
    ExpectLogits(logits, expected, 0.05F * most);
    EXPECT_NE(logits[0], expected[0]);  // they are not those of f32
  }
}

TEST(Onnx, SaysItsImageItsClassesAndItsFile) {
  const OnnxNetwork network = ReadOnnxNetwork(PathTo("residual.onnx"));
  EXPECT_EQ(network.image, kOnnxSize);
  EXPECT_EQ(network.classes, kOnnxClasses);
  EXPECT_EQ(network.sha256.size(), 64u);
  EXPECT_NE(network.sha256, ReadOnnxNetwork(PathTo("norms.onnx")).sha256);
}

TEST(Onnx, CannotBeTrained) {
  OnnxOnCpu network(PathTo("residual.onnx"), ImageLayout::kNhwc);
  EXPECT_THROW(network.Backward(), Error);
}

TEST(Onnx, AnotherOperationIsRefusedByItsName) {
  const Changed tanh("flatten.onnx", "\"\x04Relu", "\"\x04Tanh");
  const Error error = ErrorOfReading(tanh.path());
  EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(error.place().path, tanh.path());
  EXPECT_NE(error.reason().find("(Tanh)"), std::string::npos) << error.reason();
  EXPECT_NE(error.advice().find("BatchNormalization"), std::string::npos) << error.advice();
}

TEST(Onnx, ConstantsOfOtherTypesAreRefused) {
  // data_type, field 2 of the tensor, after its dimensions: 1 is f32, 10 f16.
  const Changed half("flatten.onnx", std::string("\x08\x03\x08\x03\x08\x03\x10\x01", 8).substr(2),
                     std::string("\x08\x03\x08\x03\x10\x0a", 6));
  EXPECT_EQ(ErrorOfReading(half.path()).kind(), ErrorKind::kUnsupported);
}

TEST(Onnx, EveryPrefixIsRefused) {
  const std::string text = TextOf(PathTo("flatten.onnx"));
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/cut.onnx";
  for (size_t cut = 0; cut + 60 < text.size(); cut += 7) {
    std::ofstream(path) << text.substr(0, cut);
    EXPECT_EQ(ErrorOfReading(path).place().path, path) << cut;
  }
}

// A byte here and there is another one: the network is read or refused; sanitizers see what else
// may happen.
TEST(Onnx, ChangedBytesAreReadOrRefused) {
  const std::string text = TextOf(PathTo("flatten.onnx"));
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/changed.onnx";
  size_t refused = 0;
  for (size_t at = 0; at < text.size(); at += 5) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ (at % 2 == 0 ? 0xff : 0x08));
    std::ofstream(path) << changed;
    try {
      ReadOnnxNetwork(path);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0u);
}

TEST(Onnx, WeightsOfAnotherFileAreThoseBesideIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/external.onnx", data = path + ".data";
  std::ofstream(path) << TextOf(PathTo("external.onnx"));
  EXPECT_EQ(ErrorOfReading(path).kind(), ErrorKind::kNotFound);
  const std::string weights = TextOf(PathTo("external.onnx.data"));
  std::ofstream(data) << weights.substr(0, weights.size() / 2);
  EXPECT_EQ(ErrorOfReading(path).kind(), ErrorKind::kCorrupt);
  std::ofstream(data) << weights;
  EXPECT_EQ(ReadOnnxNetwork(path).classes, kOnnxClasses);
  const Changed outside("external.onnx", "external.onnx.data", "../../../etc/hosts");
  EXPECT_EQ(ErrorOfReading(outside.path()).kind(), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace recpack::train

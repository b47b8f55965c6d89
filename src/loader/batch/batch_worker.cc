#include "src/loader/batch/batch_worker.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/loader/batch/ragged_rows.h"

namespace recpack {
namespace {

class FunctionWorker final : public BatchWorker {
 public:
  explicit FunctionWorker(const BatchFunction& function)
      : arrays_(DeclaredArrays(function.arrays, "a batch function")),
        call_(function.call),
        stream_(FunctionStream(RandomStream::kBatchFunction, function.stream)) {
    if (!call_) {
      throw Error(ErrorKind::kInvalidArgument, "a batch function is empty", {}, "give it a call");
    }
    // They are packed when the samples are there, before it is called.
    const auto is_ragged = [](const ArraySpec& array) { return array.rows != ArrayRows::kSamples; };
    if (std::ranges::any_of(arrays_, is_ragged)) {
      throw Error(ErrorKind::kInvalidArgument, "a batch function cannot add ragged arrays", {},
                  "let a function of samples give them");
    }
  }

  std::vector<ArraySpec> Arrays() const override { return arrays_; }
  uint32_t stream() const override { return stream_; }
  void Work(BatchView& batch) const override { call_(batch); }

 private:
  std::vector<ArraySpec> arrays_;
  std::function<void(BatchView&)> call_;
  uint32_t stream_;
};

}  // namespace

const ArraySpec& BatchView::Spec(const std::string& name) const { return FindArray(arrays_, name); }

size_t BatchView::Rows(const std::string& name) const {
  const auto array = static_cast<size_t>(&Spec(name) - arrays_.data());
  return RowsOf(arrays_, array, size, slab_);
}

const ArraySpec& FindArray(const std::vector<ArraySpec>& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &ArraySpec::name);
  if (found != arrays.end()) return *found;
  throw Error(ErrorKind::kInvalidArgument, format("the batch has no array '{}'", name), {},
              "it has: " + JoinNames(arrays, &ArraySpec::name));
}

std::vector<ArraySpec> DeclaredArrays(const std::vector<ArraySpec>& given, const char* what) {
  std::vector<ArraySpec> arrays;
  for (ArraySpec array : given) {
    array.sample_bytes = ElementBytes(array.type);
    for (const uint32_t extent : array.shape) array.sample_bytes *= extent;
    if (array.name.empty() || array.sample_bytes == 0) {
      throw Error(
          ErrorKind::kInvalidArgument,
          format("array '{}' of {} has {} bytes a sample", array.name, what, array.sample_bytes),
          {}, "give it a name and a shape without zeros");
    }
    const bool ragged = array.rows == ArrayRows::kRagged;
    if (array.rows == ArrayRows::kOffsets || (ragged && array.shape.empty())) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("array '{}' of {} cannot have these rows", array.name, what), {},
                  "a ragged array has a first dimension, the most rows of a sample, and gets its "
                  "offsets by itself");
    }
    arrays.push_back(std::move(array));
    if (ragged) arrays.push_back(OffsetsOf(arrays.back()));
  }
  return arrays;
}

uint32_t FunctionStream(RandomStream family, uint32_t number) {
  if (number < kMostStreams) return ToStream(family, number);
  throw Error(ErrorKind::kInvalidArgument, format("there is no stream {}", number), {},
              format("streams are numbered below {}", kMostStreams));
}

std::unique_ptr<BatchWorker> MakeBatchWorker(const BatchStep& step,
                                             const std::vector<ArraySpec>& arrays) {
  if (const auto* mix = std::get_if<MixImages>(&step)) return MakeMixer(*mix, arrays);
  return std::make_unique<FunctionWorker>(std::get<BatchFunction>(step));
}

}  // namespace recpack

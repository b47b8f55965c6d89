// Arrays that the user fills.
#include "recpack/base/error.h"
#include "recpack/pipeline/function_field.h"
#include "src/base/format.h"
#include "src/pipeline/batch_worker.h"
#include "src/pipeline/field_writer.h"

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
  }

  std::vector<ArraySpec> Arrays() const override { return arrays_; }

  void Write(const SampleRecord& sample, SampleTools& tools,
             std::span<uint8_t* const> out) const override {
    SampleView view{.example = sample.example,
                    .id = sample.id,
                    .position = sample.position,
                    .random = KeyedRandom(sample.epoch_seed, stream_, sample.position),
                    .out = out.first(arrays_.size())};
    tools.Enter(Stage::kFunction);
    call_(view);
    tools.ResumeWriting();
  }

 private:
  std::vector<ArraySpec> arrays_;
  std::function<void(SampleView&)> call_;
  uint32_t stream_;
};

}  // namespace

std::unique_ptr<FieldWriter> MakeFunctionWriter(const FunctionField& field) {
  return std::make_unique<FunctionWriter>(field);
}

}  // namespace recpack

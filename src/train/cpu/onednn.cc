#include "src/train/cpu/onednn.h"

#include <sys/mman.h>

#include <new>

#include "recpack/base/out_of_memory.h"
#include "src/base/format.h"
#include "src/train/cpu/cpu_ops.h"

namespace recpack::train {

using dnnl::memory;

void RequireRoomForCode() {
  constexpr size_t kMostCode = size_t{32} << 20;  // of one primitive's kernels; a generous bound
  void* room =
      ::mmap(nullptr, kMostCode, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw HostMemoryError(kMostCode);
  ::munmap(room, kMostCode);
}

memory::data_type DnnlType(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return memory::data_type::f32;
    case ElementType::kBf16:
      return memory::data_type::bf16;
    case ElementType::kU8:
      return memory::data_type::u8;
    case ElementType::kI32:
      return memory::data_type::s32;
    default:
      break;
  }
  throw Error(ErrorKind::kUnsupported,
              format("CPU devices do not compute with {}", ElementName(type)), {},
              "choose f32 or bf16");
}

memory::desc DnnlPicture(const Shape& shape, ElementType type, ImageLayout layout) {
  const auto tag =
      layout == ImageLayout::kNhwc ? memory::format_tag::nhwc : memory::format_tag::nchw;
  return {shape, DnnlType(type), tag};
}

memory::desc DnnlDense(const Shape& shape, ElementType type) {
  memory::dims strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * shape[i + 1];
  return {shape, DnnlType(type), strides};
}

void ThrowDnnlError(const std::string& what, const dnnl::error& error) {
  const std::string reason = format("oneDNN cannot make {}: {}", what, error.message);
  if (IsOutOfMemory(error)) throw OutOfMemory(reason, "use a smaller --batch-size or model");
  throw Error(ErrorKind::kUnsupported, reason, {}, "choose another type or layout");
}

bool IsOutOfMemory(const std::exception& error) noexcept {
  const auto* const of_dnnl = dynamic_cast<const dnnl::error*>(&error);
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         (of_dnnl != nullptr && of_dnnl->status == dnnl_out_of_memory);
}

dnnl::primitive_attr Scratchpad::Attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void Scratchpad::Reserve(const memory::desc& needed, const dnnl::engine& engine) {
  const size_t bytes = needed.get_size();
  if (bytes <= bytes_) return;
  buffer_ = {};
  bytes_ = 0;
  const auto count = static_cast<memory::dim>(bytes);
  buffer_ = dnnl::memory({{count}, memory::data_type::u8, memory::format_tag::a}, engine);
  bytes_ = bytes;
}

void Scratchpad::AddTo(std::unordered_map<int, dnnl::memory>& arguments, const memory::desc& needed,
                       const dnnl::engine& engine) const {
  if (needed.get_size() == 0) return;
  arguments.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(needed, engine, buffer_.get_data_handle()));
}

DnnlArray::DnnlArray(const CpuContext& context, const memory::desc& ours,
                     const memory::desc& theirs)
    : same_(ours == theirs), ours_(ours, context.engine, nullptr) {
  if (same_) return;
  theirs_ = WithDnnl(format("a copy of {} bytes", theirs.get_size()),
                     [&] { return dnnl::memory(theirs, context.engine); });
  in_ = dnnl::reorder(ours_, theirs_);
  out_ = dnnl::reorder(theirs_, ours_);
}

const memory& DnnlArray::In(const CpuContext& context, const void* data) {
  ours_.set_data_handle(const_cast<void*>(data));
  if (same_) return ours_;
  in_.execute(context.stream, ours_, theirs_);
  return theirs_;
}

const memory& DnnlArray::Out(void* data) {
  ours_.set_data_handle(data);
  return memory();
}

void DnnlArray::Finish(const CpuContext& context) {
  if (!same_) out_.execute(context.stream, theirs_, ours_);
}

}  // namespace recpack::train

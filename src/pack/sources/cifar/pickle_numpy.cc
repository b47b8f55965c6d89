// Recognised pickle globals: NumPy's arrays, types and scalars, and byte strings.
#include <algorithm>
#include <utility>

#include "src/base/format.h"
#include "src/pack/sources/cifar/pickle_machine.h"
#include "src/pack/sources/cifar/pickle_text.h"

namespace recpack::pack {
namespace {

struct KnownGlobal {
  std::string_view module;
  std::string_view name;
  PickleGlobal global;
};

constexpr KnownGlobal kKnownGlobals[] = {
    {"numpy.core.multiarray", "_reconstruct", PickleGlobal::kReconstruct},
    {"numpy._core.multiarray", "_reconstruct", PickleGlobal::kReconstruct},
    {"numpy.core.numeric", "_frombuffer", PickleGlobal::kFromBuffer},
    {"numpy._core.numeric", "_frombuffer", PickleGlobal::kFromBuffer},
    {"numpy.core.multiarray", "scalar", PickleGlobal::kScalar},
    {"numpy._core.multiarray", "scalar", PickleGlobal::kScalar},
    {"numpy", "ndarray", PickleGlobal::kNdarray},
    {"numpy", "dtype", PickleGlobal::kDtype},
    {"_codecs", "encode", PickleGlobal::kEncode},
    {"__builtin__", "bytes", PickleGlobal::kBytes},
    {"builtins", "bytes", PickleGlobal::kBytes},
    {"__builtin__", "bytearray", PickleGlobal::kByteArray},
    {"builtins", "bytearray", PickleGlobal::kByteArray},
    {"collections", "OrderedDict", PickleGlobal::kOrderedDict},
};

// Makes a global's name safe to print on a terminal; the file may be hostile.
std::string Printable(std::string_view text) {
  std::string shown(text.substr(0, 80));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

// Bytes per item of a numeric type, or 0 for other types.
uint64_t ItemSize(std::string_view type) {
  if (type.size() != 2 || std::string_view("uifb").find(type[0]) == std::string_view::npos) {
    return 0;
  }
  const auto size = static_cast<uint64_t>(type[1] - '0');
  return size == 1 || size == 2 || size == 4 || size == 8 ? size : 0;
}

// Size of an array of this shape [bytes]; nullopt if it exceeds 64 bits.
std::optional<uint64_t> ArrayBytes(std::span<const uint64_t> shape, uint64_t item_size) {
  uint64_t bytes = item_size;
  for (const uint64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return {};
  }
  return bytes;
}

}  // namespace

void PickleMachine::PushGlobal(std::string_view module, std::string_view name) {
  for (const KnownGlobal& known : kKnownGlobals) {
    if (known.module == module && known.name == name) {
      return PushNumber(PickleKind::kGlobal, static_cast<int64_t>(known.global));
    }
  }
  stream_.Unsupported(
      opcode_offset_,
      format("refers to the Python global {}.{}, which is not executed", Printable(module),
             Printable(name)),
      "a CIFAR batch needs NumPy arrays, lists and text only; do not unpickle files you do not "
      "trust");
}

void PickleMachine::PushGlobalFromStack() {
  const PickleValue name = Pop();
  const PickleValue module = Pop();
  PushGlobal(Text(module), Text(name));
}

std::string_view PickleMachine::Text(const PickleValue& value) {
  const bool text = value.kind == PickleKind::kText || value.kind == PickleKind::kBytes;
  if (!text || (value.data == nullptr && value.size != 0)) Corrupt("short text is missing");
  return AsText({value.data, value.size});
}

void PickleMachine::RequireArguments(std::span<const PickleValue> values, size_t count,
                                     const char* what) {
  if (values.size() < count) Corrupt(format("{} has fewer than {} arguments", what, count));
}

void PickleMachine::Reduce() {
  const PickleValue arguments = Pop();
  const PickleValue callable = Pop();
  if (callable.kind != PickleKind::kGlobal || arguments.kind != PickleKind::kTuple) {
    Corrupt("only a global with a tuple of arguments can be applied");
  }
  const Items& values = GetNode(arguments).items;
  switch (static_cast<PickleGlobal>(callable.number)) {
    case PickleGlobal::kReconstruct:
      PushNode(PickleKind::kArray);
      GetNode(stack_.back()).array = std::make_unique<PickleArray>();
      return;
    case PickleGlobal::kFromBuffer:
      return MakeFromBuffer(values);
    case PickleGlobal::kScalar:
      return MakeScalar(values);
    case PickleGlobal::kDtype:
      return MakeDtype(values);
    case PickleGlobal::kEncode:
      return Encode(values);
    case PickleGlobal::kBytes:
    case PickleGlobal::kByteArray:
      return MakeByteArray(values);
    case PickleGlobal::kOrderedDict:
      return PushNode(PickleKind::kDict);
    case PickleGlobal::kNdarray:
      break;
  }
  Corrupt("a NumPy array is made in a way that NumPy does not use");
}

void PickleMachine::Encode(const Items& arguments) {
  RequireArguments(arguments, 2, "_codecs.encode");
  const PickleValue& text = arguments[0];
  const std::string_view encoding = Text(arguments[1]);
  if (text.kind != PickleKind::kText || (encoding != "latin1" && encoding != "latin-1")) {
    stream_.Unsupported(opcode_offset_, "encodes text in an encoding other than Latin-1", "");
  }
  uint8_t* encoded = NewDecoded(text.size);
  std::unique_ptr<uint8_t[]> loaded;
  const uint8_t* utf8 = stream_.Load({text.offset, text.size, text.data}, loaded);
  const auto size = EncodeLatin1({utf8, text.size}, encoded);
  if (!size) Corrupt("text that is encoded as bytes has characters beyond Latin-1");
  PushDecoded(PickleKind::kBytes, encoded, *size);
}

void PickleMachine::MakeByteArray(const Items& arguments) {
  if (arguments.empty()) return PushDecoded(PickleKind::kBytes, nullptr, 0);
  if (arguments[0].kind == PickleKind::kText) return Encode(arguments);
  if (arguments[0].kind != PickleKind::kBytes)
    Corrupt("a bytearray is made from something other than bytes");
  Push(arguments[0]);
}

void PickleMachine::MakeDtype(const Items& arguments) {
  RequireArguments(arguments, 1, "numpy.dtype");
  std::string_view type = Text(arguments[0]);
  const bool ordered = !type.empty() && std::string_view("<>|=").find(type[0]) != type.npos;
  auto array = std::make_unique<PickleArray>();
  array->big_endian = ordered && type[0] == '>';
  if (ordered) type.remove_prefix(1);
  if (type.size() > 16) Corrupt("the name of a NumPy type is too long");
  array->type = type;
  PushNode(PickleKind::kDtype);
  GetNode(stack_.back()).array = std::move(array);
}

const PickleArray& PickleMachine::Dtype(const PickleValue& value) {
  if (value.kind != PickleKind::kDtype) Corrupt("an array's type is not a numpy.dtype");
  return *GetNode(value).array;
}

void PickleMachine::MakeScalar(const Items& arguments) {
  RequireArguments(arguments, 2, "a NumPy scalar");
  const PickleArray& dtype = Dtype(arguments[0]);
  const PickleValue bytes = arguments[1];
  const uint64_t size = ItemSize(dtype.type);
  if (bytes.kind != PickleKind::kBytes || size == 0 || dtype.type[0] == 'f') return Push(bytes);
  if (bytes.size != size || bytes.data == nullptr) Corrupt("a NumPy scalar has the wrong size");
  const auto most = bytes.data[dtype.big_endian ? 0 : size - 1];
  uint64_t value = dtype.type[0] == 'i' && most >= 0x80 ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < size; ++i) {
    value = value << 8 | bytes.data[dtype.big_endian ? i : size - 1 - i];
  }
  PushNumber(PickleKind::kInt, static_cast<int64_t>(value));
}

std::vector<uint64_t> PickleMachine::ParseShape(const PickleValue& tuple) {
  if (tuple.kind != PickleKind::kTuple) Corrupt("an array's shape is not a tuple");
  const Items& extents = GetNode(tuple).items;
  if (extents.size() > kMaxDimensions) Corrupt("an array has more dimensions than NumPy allows");
  std::vector<uint64_t> shape;
  for (const PickleValue& extent : extents) {
    if (extent.kind != PickleKind::kInt || extent.number < 0) Corrupt("a shape is not numeric");
    shape.push_back(static_cast<uint64_t>(extent.number));
  }
  return shape;
}

void PickleMachine::SetArray(PickleArray& array, const PickleValue& shape, const PickleValue& dtype,
                             const PickleValue& data) {
  const PickleArray& type = Dtype(dtype);
  array.type = type.type;
  array.big_endian = type.big_endian;
  array.shape = ParseShape(shape);
  array.data = data;
  const uint64_t item_size = ItemSize(array.type);
  if (item_size == 0) return;
  const auto bytes = ArrayBytes(array.shape, item_size);
  if (data.kind != PickleKind::kBytes || !bytes || *bytes != data.size) {
    Corrupt(
        format("a NumPy array has {} bytes of data, which does not match its shape", data.size));
  }
}

void PickleMachine::MakeFromBuffer(const Items& arguments) {
  RequireArguments(arguments, 4, "_frombuffer");
  auto array = std::make_unique<PickleArray>();
  SetArray(*array, arguments[2], arguments[1], arguments[0]);
  array->c_order = Text(arguments[3]) == "C";  // or "F", or "K" for the order of the axes
  PushNode(PickleKind::kArray);
  GetNode(stack_.back()).array = std::move(array);
}

void PickleMachine::Build() {
  const PickleValue state = Pop();
  RequireStack(1);
  const PickleValue& target = stack_.back();
  const auto values = document_.Items(state);
  if (target.kind == PickleKind::kArray) return BuildArray(GetNode(target), values);
  if (target.kind == PickleKind::kDtype) return BuildDtype(GetNode(target), values);
  Corrupt("a state is set on something other than an array or a NumPy type");
}

// `state`: (version, shape, dtype, is Fortran order, data)
void PickleMachine::BuildArray(Node& array, std::span<const PickleValue> state) {
  RequireArguments(state, 5, "an array's state");
  SetArray(*array.array, state[1], state[2], state[4]);
  if (state[3].kind != PickleKind::kBool && state[3].kind != PickleKind::kInt) {
    Corrupt("an array does not say whether it is in Fortran order");
  }
  array.array->c_order = state[3].number == 0;
}

// `state`: (version, byte order, ...)
void PickleMachine::BuildDtype(Node& dtype, std::span<const PickleValue> state) {
  RequireArguments(state, 2, "a NumPy type's state");
  dtype.array->big_endian = Text(state[1]) == ">";
}

}  // namespace recpack::pack

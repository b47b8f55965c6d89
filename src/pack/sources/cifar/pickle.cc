#include "src/pack/sources/cifar/pickle.h"

#include <bit>
#include <charconv>
#include <utility>

#include "src/base/format.h"
#include "src/pack/sources/cifar/pickle_machine.h"
#include "src/pack/sources/cifar/pickle_text.h"

namespace recpack::pack {

std::span<const PickleValue> PickleDocument::Items(const PickleValue& container) const noexcept {
  const PickleKind kind = container.kind;
  if (kind != PickleKind::kList && kind != PickleKind::kTuple && kind != PickleKind::kDict) {
    return {};
  }
  return nodes_[static_cast<size_t>(container.number)].items;
}

const PickleValue* PickleDocument::Find(const PickleValue& dict,
                                        std::string_view key) const noexcept {
  if (dict.kind != PickleKind::kDict) return nullptr;
  const auto items = Items(dict);
  for (size_t i = items.size(); i >= 2; i -= 2) {
    const PickleValue& name = items[i - 2];
    if (name.kind != PickleKind::kText && name.kind != PickleKind::kBytes) continue;
    if (name.data == nullptr && name.size != 0) continue;
    if (AsText({name.data, name.size}) == key) return &items[i - 1];
  }
  return nullptr;
}

const PickleArray& PickleDocument::Array(const PickleValue& value) const noexcept {
  return *nodes_[static_cast<size_t>(value.number)].array;
}

PickleDocument ParsePickle(const PickleInput& input) { return PickleMachine(input).Run(); }

PickleMachine::PickleMachine(const PickleInput& input) : stream_(input, document_.buffers_) {}

PickleDocument PickleMachine::Run() {
  for (;;) {
    opcode_offset_ = stream_.offset();
    const uint8_t opcode = *stream_.Take(1);
    if (RunString(opcode) || RunNumber(opcode) || RunMemo(opcode) || RunContainer(opcode) ||
        RunStack(opcode) || RunLine(opcode) || RunObject(opcode)) {
      continue;
    }
    if (opcode != '.') RefuseOpcode(opcode);
    document_.root_ = Pop();
    return std::move(document_);
  }
}

void PickleMachine::RefuseOpcode(uint8_t opcode) {
  // INST, OBJ, NEWOBJ, NEWOBJ_EX, EXT1-4, PERSID, BINPERSID, sets, and buffers outside the file.
  constexpr std::string_view kKnown = "ioPQ\x81\x82\x83\x84\x8f\x90\x91\x92\x97\x98";
  if (kKnown.find(static_cast<char>(opcode)) == kKnown.npos) {
    Corrupt(format("0x{:02x} is not a pickle opcode", opcode));
  }
  stream_.Unsupported(
      opcode_offset_,
      format("pickle opcode 0x{:02x} makes a Python object, which is not executed", opcode),
      "only dictionaries, lists, text, numbers and NumPy arrays are read");
}

// The stack ------------------------------------------------------------------------------------

void PickleMachine::Push(PickleValue value) {
  if (++values_ > kMaxValues) {
    stream_.Unsupported(opcode_offset_, format("holds more than {} values", kMaxValues),
                        "a CIFAR batch has two or three a row; split it into smaller ones");
  }
  stack_.push_back(value);
}

void PickleMachine::PushNumber(PickleKind kind, int64_t number) {
  Push({.kind = kind, .number = number, .offset = opcode_offset_});
}

void PickleMachine::PushNode(PickleKind kind, Items items) {
  PushNumber(kind, static_cast<int64_t>(document_.nodes_.size()));
  document_.nodes_.push_back({std::move(items), nullptr});
}

void PickleMachine::PushString(PickleKind kind, const PickleExtent& extent) {
  Push({.kind = kind,
        .in_input = true,
        .data = extent.data,
        .size = extent.size,
        .offset = extent.offset});
}

void PickleMachine::PushDecoded(PickleKind kind, const uint8_t* data, size_t size) {
  Push({.kind = kind, .data = data, .size = size, .offset = opcode_offset_});
}

uint8_t* PickleMachine::NewDecoded(uint64_t size) {
  decoded_ += size;
  if (decoded_ / kMaxExpansion > stream_.size()) {
    stream_.Unsupported(opcode_offset_, "its strings decode to far more than the file's size",
                        "write it again with pickle protocol 4");
  }
  document_.buffers_.push_back(std::make_unique_for_overwrite<uint8_t[]>(size));
  return document_.buffers_.back().get();
}

void PickleMachine::RequireStack(size_t count) {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - floor < count) Corrupt("an opcode takes more values than are on the stack");
}

PickleValue PickleMachine::Pop() {
  RequireStack(1);
  const PickleValue value = stack_.back();
  stack_.pop_back();
  return value;
}

PickleMachine::Items PickleMachine::PopMany(size_t count) {
  RequireStack(count);
  Items items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
  stack_.resize(stack_.size() - count);
  return items;
}

PickleMachine::Items PickleMachine::PopToMark() {
  if (marks_.empty()) Corrupt("an opcode takes values up to a missing mark");
  Items items = PopMany(stack_.size() - marks_.back());
  marks_.pop_back();
  return items;
}

PickleMachine::Node& PickleMachine::GetNode(const PickleValue& value) {
  return document_.nodes_[static_cast<size_t>(value.number)];
}

void PickleMachine::Append(PickleKind kind, Items items) {
  RequireStack(1);
  if (stack_.back().kind != kind) {
    Corrupt(kind == PickleKind::kList ? "items are appended to something other than a list"
                                      : "items are set in something other than a dictionary");
  }
  if (kind == PickleKind::kDict && items.size() % 2 != 0) Corrupt("a key has no value");
  Items& all = GetNode(stack_.back()).items;
  if (all.empty()) {
    all = std::move(items);
  } else {
    all.insert(all.end(), items.begin(), items.end());
  }
}

void PickleMachine::PushDict(Items items) {
  PushNode(PickleKind::kDict);
  Append(PickleKind::kDict, std::move(items));
}

void PickleMachine::StoreMemo(uint64_t key, PickleValue value) {
  memo_[key] = value;
  if (memo_.size() > kMaxValues) {
    stream_.Unsupported(opcode_offset_, format("memorises more than {} values", kMaxValues), "");
  }
}

void PickleMachine::LoadMemo(uint64_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) Corrupt(format("memo {} was never stored", key));
  Push(found->second);
}

// The opcodes ----------------------------------------------------------------------------------

bool PickleMachine::RunString(uint8_t opcode) {
  const auto take = [this](PickleKind kind, uint64_t size) {
    PushString(kind, stream_.TakeExtent(size));
    return true;
  };
  switch (opcode) {
    case 'U':  // SHORT_BINSTRING
    case 'C':  // SHORT_BINBYTES
      return take(PickleKind::kBytes, stream_.TakeNumber<uint8_t>());
    case 'T': {  // BINSTRING
      const auto size = stream_.TakeNumber<int32_t>();
      if (size < 0) Corrupt("a string has a negative length");
      return take(PickleKind::kBytes, static_cast<uint64_t>(size));
    }
    case 'B':  // BINBYTES
      return take(PickleKind::kBytes, stream_.TakeNumber<uint32_t>());
    case 0x8e:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      return take(PickleKind::kBytes, stream_.TakeNumber<uint64_t>());
    case 0x8c:  // SHORT_BINUNICODE
      return take(PickleKind::kText, stream_.TakeNumber<uint8_t>());
    case 'X':  // BINUNICODE
      return take(PickleKind::kText, stream_.TakeNumber<uint32_t>());
    case 0x8d:  // BINUNICODE8
      return take(PickleKind::kText, stream_.TakeNumber<uint64_t>());
    default:
      return false;
  }
}

void PickleMachine::PushLong(uint64_t size) {
  const uint8_t* bytes = stream_.Take(size);
  if (size > 8) {
    stream_.Unsupported(opcode_offset_, "holds an integer of more than 64 bits", "");
  }
  uint64_t value = size > 0 && bytes[size - 1] >= 0x80 ? ~uint64_t{0} : 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
  PushNumber(PickleKind::kInt, static_cast<int64_t>(value));
}

bool PickleMachine::RunNumber(uint8_t opcode) {
  switch (opcode) {
    case 'K':
      PushNumber(PickleKind::kInt, stream_.TakeNumber<uint8_t>());
      return true;
    case 'M':
      PushNumber(PickleKind::kInt, stream_.TakeNumber<uint16_t>());
      return true;
    case 'J':
      PushNumber(PickleKind::kInt, stream_.TakeNumber<int32_t>());
      return true;
    case 0x8a:  // LONG1
      PushLong(stream_.TakeNumber<uint8_t>());
      return true;
    case 0x8b: {  // LONG4
      const auto size = stream_.TakeNumber<int32_t>();
      if (size < 0) Corrupt("an integer has a negative length");
      PushLong(static_cast<uint64_t>(size));
      return true;
    }
    case 'G':  // BINFLOAT, big-endian
      PushNumber(PickleKind::kFloat,
                 static_cast<int64_t>(__builtin_bswap64(stream_.TakeNumber<uint64_t>())));
      return true;
    case 0x88:
    case 0x89:
      PushNumber(PickleKind::kBool, opcode == 0x88);
      return true;
    case 'N':
      PushNumber(PickleKind::kNone, 0);
      return true;
    default:
      return false;
  }
}

void PickleMachine::PushLiteral() {
  const PickleExtent line = stream_.TakeLine();
  std::string_view text = AsText({line.data, line.size});
  const char quote = text.empty() ? ' ' : text.front();
  if (text.size() < 2 || (quote != '\'' && quote != '"') || text.back() != quote) {
    Corrupt("a string literal has no quotes");
  }
  text = text.substr(1, text.size() - 2);
  uint8_t* decoded = NewDecoded(text.size());
  const auto size = DecodeStringLiteral(text, decoded);
  if (!size) Corrupt("a string literal has an invalid escape");
  PushDecoded(PickleKind::kBytes, decoded, *size);
}

bool PickleMachine::RunLine(uint8_t opcode) {
  if (opcode == 'S') {
    PushLiteral();
    return true;
  }
  if (opcode != 'V' && opcode != 'I' && opcode != 'L' && opcode != 'F') return false;
  const PickleExtent line = stream_.TakeLine();
  const std::string_view text = AsText({line.data, line.size});
  if (opcode == 'V') {
    uint8_t* decoded = NewDecoded(text.size() * 2);
    const auto size = DecodeRawUnicodeEscape(text, decoded);
    if (!size) Corrupt("unicode text has an incomplete \\u escape");
    PushDecoded(PickleKind::kText, decoded, *size);
  } else if (opcode == 'F') {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) Corrupt("a float is invalid");
    PushNumber(PickleKind::kFloat, std::bit_cast<int64_t>(value));
  } else if (opcode == 'I' && (text == "00" || text == "01")) {
    PushNumber(PickleKind::kBool, text == "01");
  } else {
    const auto value = ParseDecimal(text);
    if (!value) Corrupt("an integer is invalid or longer than 64 bits");
    PushNumber(PickleKind::kInt, *value);
  }
  return true;
}

bool PickleMachine::RunContainer(uint8_t opcode) {
  switch (opcode) {
    case ']':
    case '}':
    case ')':
      PushNode(opcode == ']'   ? PickleKind::kList
               : opcode == '}' ? PickleKind::kDict
                               : PickleKind::kTuple);
      return true;
    case 0x85:
    case 0x86:
    case 0x87:
      PushNode(PickleKind::kTuple, PopMany(opcode - 0x84u));
      return true;
    case 't':
      PushNode(PickleKind::kTuple, PopToMark());
      return true;
    case 'l':
      PushNode(PickleKind::kList, PopToMark());
      return true;
    case 'd':
      PushDict(PopToMark());
      return true;
    case 'a':
      Append(PickleKind::kList, PopMany(1));
      return true;
    case 'e':
      Append(PickleKind::kList, PopToMark());
      return true;
    case 's':
      Append(PickleKind::kDict, PopMany(2));
      return true;
    case 'u':
      Append(PickleKind::kDict, PopToMark());
      return true;
    default:
      return false;
  }
}

bool PickleMachine::RunMemo(uint8_t opcode) {
  const auto line_key = [this] {
    const PickleExtent line = stream_.TakeLine();
    const auto key = ParseDecimal(AsText({line.data, line.size}));
    if (!key || *key < 0) Corrupt("a memo key is not a number");
    return static_cast<uint64_t>(*key);
  };
  const auto store = [this](uint64_t key) {
    RequireStack(1);
    StoreMemo(key, stack_.back());
    return true;
  };
  const auto load = [this](uint64_t key) {
    LoadMemo(key);
    return true;
  };
  switch (opcode) {
    case 'q':
      return store(stream_.TakeNumber<uint8_t>());
    case 'r':
      return store(stream_.TakeNumber<uint32_t>());
    case 'p':
      return store(line_key());
    case 0x94:  // MEMOIZE
      return store(memo_.size());
    case 'h':
      return load(stream_.TakeNumber<uint8_t>());
    case 'j':
      return load(stream_.TakeNumber<uint32_t>());
    case 'g':
      return load(line_key());
    default:
      return false;
  }
}

bool PickleMachine::RunStack(uint8_t opcode) {
  switch (opcode) {
    case '(':
      if (marks_.size() == kMaxValues) Corrupt("marks are nested too deeply");
      marks_.push_back(stack_.size());
      return true;
    case '0':  // POP, also of a mark
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        Pop();
      }
      return true;
    case '1':
      PopToMark();
      return true;
    case '2':
      RequireStack(1);
      Push(stack_.back());
      return true;
    case 0x80:  // PROTO
      if (const auto protocol = stream_.TakeNumber<uint8_t>(); protocol > 5) {
        stream_.Unsupported(opcode_offset_, format("is of pickle protocol {}", protocol),
                            "write it again with protocol 5 or below");
      }
      return true;
    case 0x95:  // FRAME: only a hint for reading ahead
      if (stream_.TakeNumber<uint64_t>() > stream_.size() - stream_.offset()) {
        Corrupt("a frame is longer than the rest of the pickle");
      }
      return true;
    default:
      return false;
  }
}

bool PickleMachine::RunObject(uint8_t opcode) {
  switch (opcode) {
    case 'c': {
      const PickleExtent module = stream_.TakeLine();
      const PickleExtent name = stream_.TakeLine();
      PushGlobal(AsText({module.data, module.size}), AsText({name.data, name.size}));
      return true;
    }
    case 0x93:
      PushGlobalFromStack();
      return true;
    case 'R':
      Reduce();
      return true;
    case 'b':
      Build();
      return true;
    default:
      return false;
  }
}

}  // namespace recpack::pack

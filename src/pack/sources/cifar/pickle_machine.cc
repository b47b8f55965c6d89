#include "src/pack/sources/cifar/pickle_machine.h"

#include <utility>

#include "src/base/format.h"
#include "src/pack/sources/cifar/pickle_text.h"

namespace recpack::pack {

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

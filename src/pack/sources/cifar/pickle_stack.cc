// Stack and memo of the pickle machine, with limits on what a damaged file can make it hold.
#include <memory>
#include <utility>

#include "src/base/format.h"
#include "src/pack/sources/cifar/pickle_machine.h"

namespace recpack::pack {

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

}  // namespace recpack::pack

#include "src/pack/sources/cifar/pickle.h"

#include "src/pack/sources/cifar/pickle_machine.h"

namespace recpack::pack {

PickleDocument ParsePickle(const PickleInput& input) { return PickleMachine(input).Run(); }

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

}  // namespace recpack::pack

#include "recpack/loader/view.h"

#include <array>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/permutation.h"
#include "src/base/format.h"
#include "src/loader/data/streams.h"
#include "src/loader/data/view_choice.h"

namespace recpack {
namespace {

constexpr size_t kDigits = 12;
// Hashes numbers, buffering them.
class NumberHash {
 public:
  void Add(uint64_t number) {
    if (used_ == pending_.size()) Flush();
    StoreLittleEndian(pending_.data() + used_, number);
    used_ += sizeof(number);
  }

  std::string Finish() {
    Flush();
    return Hex(hash_.Finish());
  }

 private:
  void Flush() {
    hash_.Update(ByteView(pending_).first(used_));
    used_ = 0;
  }

  Sha256 hash_;
  std::array<uint8_t, 32'768> pending_;
  size_t used_ = 0;
};

}  // namespace

View::View(const Dataset& dataset) : dataset_(dataset), digest_(dataset.digest()) {}

View::View(const Dataset& dataset, std::shared_ptr<const Choice> choice)
    : dataset_(dataset), choice_(std::move(choice)) {
  if (choice_->ids.size() == 0) {
    throw Error(ErrorKind::kInvalidArgument, "the view has no records", {.path = dataset.path()},
                "choose at least one");
  }
  NumberHash hash;
  hash.Add(choice_->classes());
  hash.Add(choice_->class_samples);
  for (const uint64_t first : choice_->first) hash.Add(first);
  for (uint64_t i = 0; i < choice_->ids.size(); ++i) hash.Add(choice_->ids[i]);
  digest_ = dataset.digest() + "-" + hash.Finish().substr(0, kDigits);
}

View View::Subset(const Dataset& dataset, const std::vector<uint64_t>& ids) {
  auto choice = std::make_shared<Choice>(Choice{IdList(dataset.records()), {}, 0});
  choice->ids.Reserve(ids.size());
  for (const uint64_t id : ids) {
    if (id >= dataset.records()) {
      throw Error(
          ErrorKind::kInvalidArgument,
          format("there is no record {} for a subset: the split has {}", id, dataset.records()),
          {.path = dataset.path()}, "records count from 0");
    }
    choice->ids.Add(id);
  }
  return View(dataset, std::move(choice));
}

uint64_t View::samples() const noexcept {
  if (!choice_) return dataset_.records();
  return balanced() ? choice_->class_samples * classes() : choice_->ids.size();
}

uint64_t View::bytes() const noexcept {
  if (!choice_) return dataset_.bytes();
  const double share = static_cast<double>(samples()) / static_cast<double>(dataset_.records());
  return static_cast<uint64_t>(share * static_cast<double>(dataset_.bytes()));
}

size_t View::classes() const noexcept { return choice_ ? choice_->classes() : 0; }

std::string View::DifferenceFrom(const std::string& digest) const {
  if (digest == digest_) return {};
  const size_t dash = digest.find('-');
  if (auto difference = dataset_.DifferenceFrom(digest.substr(0, dash)); !difference.empty()) {
    return difference;
  }
  if (!choice_) return "it belongs to a view with some of the records, and this is all of them";
  if (dash == digest.npos) return "it belongs to all records, and this is a view with some of them";
  return "the shards are the same, but it belongs to a view with other records";
}

uint64_t View::Record(uint64_t number, uint64_t seed, uint64_t epoch) const noexcept {
  if (!choice_) return number;
  if (!balanced()) return choice_->ids[number];
  const size_t which = number % classes();
  const uint64_t begin = choice_->first[which];
  const uint64_t size = choice_->first[which + 1] - begin;
  // Counted across epochs, so that the next one continues where this one ends.
  const uint64_t count = epoch * choice_->class_samples + number / classes();
  constexpr auto kStream = static_cast<uint32_t>(RandomStream::kClass);
  const uint64_t class_seed = KeyedRandom(seed, kStream, which).NextU64();
  const KeyedPermutation round(EpochSeed(class_seed, count / size), kStream, size);
  return choice_->ids[begin + round(count % size)];
}

uint64_t View::AnotherOfClass(uint64_t number, uint64_t record, uint64_t draw) const noexcept {
  const size_t which = number % classes();
  const uint64_t begin = choice_->first[which];
  const uint64_t size = choice_->first[which + 1] - begin;
  const uint64_t at = begin + draw % size;
  if (choice_->ids[at] != record) return choice_->ids[at];
  return choice_->ids[at + 1 < begin + size ? at + 1 : begin];
}

}  // namespace recpack

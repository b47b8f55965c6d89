#include "recpack/loader/view.h"

#include <algorithm>
#include <array>
#include <cmath>

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
  if (choice_->weighted()) {
    hash.Add(choice_->epoch_samples);
    for (const uint64_t bound : choice_->bounds) hash.Add(bound);
  }
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

View View::Subset(const View& of, const std::vector<uint64_t>& numbers) {
  if (!of.choice_) return Subset(of.dataset_, numbers);
  of.RefuseDrawn();
  std::vector<uint64_t> ids;
  ids.reserve(numbers.size());
  for (const uint64_t number : numbers) {
    if (number >= of.samples()) {
      throw Error(
          ErrorKind::kInvalidArgument,
          format("there is no sample {} for a subset: the view has {}", number, of.samples()),
          {.path = of.dataset().path()}, "samples count from 0");
    }
    ids.push_back(of.Record(number, 0, 0));
  }
  return Subset(of.dataset(), ids);
}

View View::Weighted(const View& of, const std::vector<double>& weights, uint64_t epoch_samples) {
  of.RefuseDrawn();
  const uint64_t records = of.samples();
  if (weights.size() != records) {
    Refuse(format("there are {} weights for {} samples", weights.size(), records),
           "give one for each sample of the view, in its order");
  }
  double sum = 0;
  for (uint64_t i = 0; i < records; ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i])) {
      Refuse(format("weight {} of sample {} is invalid", weights[i], i),
             "give numbers that are at least 0");
    }
    sum += weights[i];
  }
  if (!(sum > 0) || !std::isfinite(sum)) {
    Refuse(format("the weights add up to {}", sum), "give some records a weight above 0");
  }
  auto choice = std::make_shared<Choice>(Choice{IdList(of.dataset().records()), {}, 0});
  choice->epoch_samples = epoch_samples == 0 ? records : epoch_samples;
  choice->ids.Reserve(records);
  choice->bounds.reserve(records);
  double part = 0;  // ends as `sum` exactly: the same additions
  for (uint64_t i = 0; i < records; ++i) {
    part += weights[i];
    choice->ids.Add(of.Record(i, 0, 0));
    const double bound = std::ldexp(std::min(part / sum, 1.0), Choice::kWeightBits);
    choice->bounds.push_back(static_cast<uint64_t>(bound));
  }
  return View(of.dataset_, std::move(choice));
}

uint64_t View::samples() const noexcept {
  if (!choice_) return dataset_.records();
  if (choice_->weighted()) return choice_->epoch_samples;
  return balanced() ? choice_->class_samples * classes() : choice_->ids.size();
}

uint64_t View::bytes() const noexcept {
  if (!choice_) return dataset_.bytes();
  const double share = static_cast<double>(samples()) / static_cast<double>(dataset_.records());
  return static_cast<uint64_t>(share * static_cast<double>(dataset_.bytes()));
}

bool View::drawn() const noexcept { return choice_ && (balanced() || choice_->weighted()); }

void View::RefuseDrawn() const {
  if (drawn()) {
    Refuse(format("a {} view cannot be divided", balanced() ? "balanced" : "weighted"),
           "divide first, then balance or weight what is left");
  }
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

uint64_t View::Choice::Draw(uint64_t number, uint64_t seed, uint64_t epoch) const noexcept {
  constexpr auto kStream = static_cast<uint32_t>(RandomStream::kWeighted);
  const uint64_t inside =
      KeyedRandom(EpochSeed(seed, epoch), kStream, number).NextU64() >> (64 - kWeightBits);
  using Wide = unsigned __int128;
  const Wide point = ((static_cast<Wide>(number) << kWeightBits) + inside) / epoch_samples;
  const auto at = std::ranges::upper_bound(bounds, static_cast<uint64_t>(point));
  return static_cast<uint64_t>(at - bounds.begin());
}

uint64_t View::Record(uint64_t number, uint64_t seed, uint64_t epoch) const noexcept {
  if (!choice_) return number;
  if (choice_->weighted()) return choice_->ids[choice_->Draw(number, seed, epoch)];
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

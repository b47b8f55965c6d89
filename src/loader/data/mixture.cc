#include "recpack/loader/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/loader/data/dataset_digest.h"

namespace recpack {
namespace {

constexpr char kPrefix[] = "mix";
constexpr size_t kPrefixSize = 3;
constexpr uint32_t kLongestPeriod = 65'536;

// Rounds weights to whole counts that add up to the period: the views with the largest remainders
// get one more each, earlier views first if they are equal.
std::vector<uint32_t> Counts(const std::vector<MixedView>& views, uint32_t period) {
  double all = 0;
  for (const MixedView& each : views) {
    if (!(each.weight > 0) || !std::isfinite(each.weight)) {
      Refuse(format("invalid weight {}", each.weight), "give a number above 0");
    }
    all += each.weight;
  }
  std::vector<uint32_t> counts;
  std::vector<double> remainders;
  for (const MixedView& each : views) {
    const double share = each.weight / all * period;
    counts.push_back(static_cast<uint32_t>(share));
    remainders.push_back(share - std::floor(share));
  }
  std::vector<size_t> largest_first(views.size());
  std::iota(largest_first.begin(), largest_first.end(), size_t{0});
  std::ranges::stable_sort(largest_first, std::greater(), [&](size_t i) { return remainders[i]; });
  uint32_t given = std::accumulate(counts.begin(), counts.end(), uint32_t{0});
  for (size_t i = 0; given < period; ++i, ++given) ++counts[largest_first[i % views.size()]];
  for (size_t i = 0; i < views.size(); ++i) {
    if (counts[i] > 0) continue;
    Refuse(format("weight {} of {} rounds to no sample in a period of {}", views[i].weight, all,
                  period),
           "give it more weight, or mix with a longer period");
  }
  return counts;
}

std::string MakeDigest(const std::vector<View>& views, const std::vector<uint32_t>& counts,
                       uint64_t samples) {
  std::string whole = format("{}\n", samples);
  std::vector<std::string> parts(kDigestParts);
  for (size_t i = 0; i < views.size(); ++i) {
    const std::string line = format("{} {}\n", views[i].digest(), counts[i]);
    whole += line;
    parts[i % kDigestParts] += line;
  }
  const auto digits = [](const std::string& text, size_t count) {
    Sha256 hash;
    hash.Update(AsBytes(text));
    return Hex(hash.Finish()).substr(0, count);
  };
  std::string digest = kPrefix + digits(whole, kDigestDigits);
  for (const std::string& part : parts) digest += digits(part, kDigestPartDigits);
  return digest;
}

}  // namespace

Mixture::Mixture(const Dataset& dataset) : Mixture(View(dataset)) {}

Mixture::Mixture(const View& view)
    : views_{view}, counts_{1}, samples_(view.samples()), digest_(view.digest()) {}

Mixture::Mixture(const std::vector<MixedView>& views, const MixOptions& options)
    : period_(options.period), samples_(options.epoch_samples) {
  if (views.empty()) Refuse("the mixture has no data sets", "give at least one data set");
  if (period_ == 0 || period_ > kLongestPeriod) {
    Refuse(format("invalid period of {} samples", period_),
           format("choose 1 to {}", kLongestPeriod));
  }
  counts_ = Counts(views, period_);
  uint64_t periods = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    views_.push_back(views[i].view);
    periods = std::max(periods, (views_[i].samples() + counts_[i] - 1) / counts_[i]);
  }
  if (samples_ == 0) samples_ = periods * period_;
  digest_ = MakeDigest(views_, counts_, samples_);
}

uint64_t Mixture::records() const noexcept {
  uint64_t sum = 0;
  for (const View& view : views_) sum += view.samples();
  return sum;
}

uint64_t Mixture::bytes() const noexcept {
  uint64_t sum = 0;
  for (const View& view : views_) sum += view.bytes();
  return sum;
}

std::string Mixture::DifferenceFrom(const std::string& digest) const {
  if (digest == digest_) return {};
  const bool mixed = digest_.starts_with(kPrefix);
  if (mixed != digest.starts_with(kPrefix)) {
    return mixed ? "it belongs to one data set, and this is a mixture"
                 : "it belongs to a mixture, and this is one data set";
  }
  if (!mixed) return views_.front().DifferenceFrom(digest);
  if (digest.size() != digest_.size()) return "the digests are of different kinds";
  std::vector<std::string> paths;
  for (size_t part = 0; part < std::min(kDigestParts, views_.size()); ++part) {
    const size_t at = kPrefixSize + kDigestDigits + part * kDigestPartDigits;
    if (digest.compare(at, kDigestPartDigits, digest_, at, kDigestPartDigits) == 0) continue;
    for (size_t i = part; i < views_.size(); i += kDigestParts) {
      paths.push_back(views_[i].dataset().path());
    }
  }
  if (paths.empty()) return "the mixture has another number of data sets or epoch length";
  return "shards, selected records or shares differ for " + JoinNames(paths);
}

}  // namespace recpack

#include "src/loader/data/dataset_digest.h"

#include "recpack/base/bytes.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"

namespace recpack {
namespace {

// First group of part `part`.
size_t PartBegin(size_t groups, size_t part) { return groups * part / kDigestParts; }

}  // namespace

std::string MakeDigest(const SampleStore& store) {
  std::string parts;
  Sha256 whole;
  for (size_t part = 0; part < kDigestParts; ++part) {
    Sha256 own;
    const auto add = [&](const std::string& text) {
      whole.Update(AsBytes(text));
      own.Update(AsBytes(text));
    };
    const size_t end = PartBegin(store.groups(), part + 1);
    for (size_t i = PartBegin(store.groups(), part); i < end; ++i) store.DescribeGroup(i, add);
    parts += Hex(own.Finish()).substr(0, kDigestPartDigits);
  }
  return Hex(whole.Finish()).substr(0, kDigestDigits) + parts;
}

std::string DigestDifference(const SampleStore& store, const std::string& own,
                             const std::string& other) {
  if (other == own) return {};
  if (other.size() != own.size()) return "the digests are of different kinds";
  std::string names;
  for (size_t part = 0; part < kDigestParts; ++part) {
    const size_t at = kDigestDigits + part * kDigestPartDigits;
    if (other.compare(at, kDigestPartDigits, own, at, kDigestPartDigits) == 0) continue;
    const size_t begin = PartBegin(store.groups(), part);
    const size_t end = PartBegin(store.groups(), part + 1);
    if (begin == end) continue;
    names += format("{}{}", names.empty() ? "" : ", ", store.GroupName(begin));
    if (end - begin > 1) names += format(" to {}", store.GroupName(end - 1));
  }
  if (names.empty()) return "there are more or fewer shards, classes or archives";
  return "names, sizes or record counts differ among " + names;
}

}  // namespace recpack

#include "src/pack/sources/reviews/review_line.h"

#include <iterator>
#include <nlohmann/json.hpp>

#include "recpack/base/text.h"

namespace recpack::pack {
namespace {

using Object = nlohmann::json;

constexpr const char* kReasons[] = {
    "no fault",
    "is longer than 64 MiB",
    "is not JSON in UTF-8",
    "is not a JSON object",
    "has no reviewerID",
    "has no asin",
    "has no reviewText",
    "has no overall",
    "has a reviewerID that is not text",
    "has an asin that is not text",
    "has a reviewText that is not text",
    "has an overall that is not a number",
    "has an overall that is not from 0 to 10",
};
static_assert(std::size(kReasons) == static_cast<size_t>(ReviewFault::kRatingOutOfRange) + 1);

// Moves the text out of the object. An empty text counts as missing unless `may_be_empty`.
ReviewFault TakeText(Object& object, const char* key, bool may_be_empty, ReviewFault missing,
                     ReviewFault no_text, std::string& text) {
  const auto found = object.find(key);
  if (found == object.end()) return missing;
  if (!found->is_string()) return no_text;
  text = std::move(found->get_ref<std::string&>());
  return text.empty() && !may_be_empty ? missing : ReviewFault::kNone;
}

ReviewFault TakeRating(const Object& object, float& rating) {
  const auto found = object.find("overall");
  if (found == object.end()) return ReviewFault::kNoRating;
  if (!found->is_number()) return ReviewFault::kRatingIsNoNumber;
  const auto value = found->get<double>();
  rating = static_cast<float>(value);
  return value >= 0 && value <= 10 ? ReviewFault::kNone : ReviewFault::kRatingOutOfRange;
}

}  // namespace

const char* FaultReason(ReviewFault fault) { return kReasons[static_cast<size_t>(fault)]; }

ReviewFault ParseReview(std::string_view line, ReviewLine& review) {
  bool deep = false;
  const auto watch = [&](int depth, Object::parse_event_t, const Object&) {
    deep |= depth >= kMostJsonLevels;
    return !deep;
  };
  Object object = Object::parse(line, watch, false);
  if (deep) return ReviewFault::kNoJson;
  if (object.is_discarded()) return ReviewFault::kNoJson;
  if (!object.is_object()) return ReviewFault::kNoObject;
  using enum ReviewFault;
  ReviewFault fault = TakeText(object, "reviewerID", false, kNoUser, kUserIsNoText, review.user);
  if (fault == kNone) {
    fault = TakeText(object, "asin", false, kNoItem, kItemIsNoText, review.item);
  }
  if (fault == kNone) {
    fault = TakeText(object, "reviewText", true, kNoText, kTextIsNoText, review.text);
  }
  return fault == kNone ? TakeRating(object, review.rating) : fault;
}

}  // namespace recpack::pack

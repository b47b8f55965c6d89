// Sampler: maps positions to records; combines views, orders and mixing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "recpack/loader/mixture.h"
#include "recpack/loader/order.h"

namespace recpack {

struct SampledRecord {
  uint32_t view = 0;  // in the mixture
  uint64_t id = 0;    // ordinal in the split

  bool operator==(const SampledRecord&) const = default;
};

// Replaces kAuto and a block of 0 records by their values for the mixture.
OrderSpec ResolveOrder(const OrderSpec& spec, const Mixture& mixture);

// A pure function of mixture, order, seed, epoch and position. O(1) per position, apart from the
// table of a period, which is computed at its first position. Not thread-safe: caches what was used
// last, so access nearby positions together.
class Sampler {
 public:
  // `order` must be resolved (ResolveOrder()).
  Sampler(const Mixture& mixture, const OrderSpec& order, uint64_t seed);

  // Positions beyond the end repeat the epoch's first samples.
  SampledRecord At(uint64_t epoch, uint64_t position);

  // Returns a substitute for the record at the position. `draw` selects it; any value is valid. It
  // is from the same view; with a window order, from the same window; in a balanced view, of the
  // same class. Returns the same record only if there is no other.
  SampledRecord Substitute(uint64_t epoch, uint64_t position, uint64_t draw);

 private:
  struct Slot {
    uint32_t view;
    uint32_t rank;  // index among the view's slots of the period
  };
  struct Period {
    uint64_t number = ~uint64_t{0};
    std::vector<Slot> slots;
  };
  struct CachedOrder {
    uint64_t epoch;
    Order order;
  };
  struct Place {
    uint32_t view;
    uint64_t epoch;     // the view's own epoch
    uint64_t position;  // in that epoch
  };

  Place FindPlace(uint64_t epoch, uint64_t position);
  const Period& FindPeriod(uint64_t number);
  Order& FindOrder(uint32_t view, uint64_t epoch);

  const Mixture mixture_;
  const OrderSpec order_;
  const uint64_t seed_;
  std::vector<uint64_t> seeds_;  // per view
  std::array<Period, 4> periods_;
  // Two per view: the current epoch and the next, which read-ahead needs.
  std::vector<std::array<std::optional<CachedOrder>, 2>> orders_;
};

}  // namespace recpack

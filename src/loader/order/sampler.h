// Which record is delivered where: views, orders and mixing put together.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "recpack/loader/mixture.h"
#include "recpack/loader/order.h"

namespace recpack {

struct SampledRecord {
  uint32_t view = 0;  // of the mixture
  uint64_t id = 0;    // ordinal in the split

  bool operator==(const SampledRecord&) const = default;
};

// What kAuto and a block of 0 records mean for it.
OrderSpec ResolveOrder(const OrderSpec& spec, const Mixture& mixture);

// A pure function of mixture, order, seed, epoch and position. O(1) a position, but for a period's
// table, which is made when its first position is asked for. Holds what was used last: one thread
// at a time, best asked for positions near to each other.
class Sampler {
 public:
  // `order` as ResolveOrder() gives it.
  Sampler(const Mixture& mixture, const OrderSpec& order, uint64_t seed);

  // Positions beyond the end repeat the epoch's first samples.
  SampledRecord At(uint64_t epoch, uint64_t position);

  // A record in place of that one, any draw is a choice: from the same view and, of a window order,
  // the same window; of a balanced view, of the same class. The same record only where there is no
  // other.
  SampledRecord Substitute(uint64_t epoch, uint64_t position, uint64_t draw);

 private:
  struct Slot {
    uint32_t view;
    uint32_t rank;  // among the view's slots of the period
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
    uint64_t epoch;     // the view's own
    uint64_t position;  // in it
  };

  Place PlaceOf(uint64_t epoch, uint64_t position);
  const Period& PeriodOf(uint64_t number);
  Order& OrderOf(uint32_t view, uint64_t epoch);

  const Mixture mixture_;
  const OrderSpec order_;
  const uint64_t seed_;
  std::vector<uint64_t> seeds_;  // by view
  std::array<Period, 4> periods_;
  // Two a view: the epoch at hand and the next, which is looked into ahead.
  std::vector<std::array<std::optional<CachedOrder>, 2>> orders_;
};

}  // namespace recpack

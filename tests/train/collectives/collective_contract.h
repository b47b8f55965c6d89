// Contract tests for every Collective implementation; each kind instantiates the suite.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// Runs the same body on all ranks.
class World {
 public:
  using Body = std::function<void(std::unique_ptr<Collective>)>;

  virtual ~World() = default;
  virtual int size() const = 0;
  // Calls `body` for the ranks of this process, each on a thread of its own, with collectives made
  // for this call, once all ranks have theirs. Returns when all are done.
  virtual void Run(const CollectiveOptions& options, const Body& body) = 0;
  // A barrier for bodies, independent of the collective.
  virtual void Sync() = 0;
};

struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<World>()> make;
  std::string missing = {};  // why the kind is unavailable here; empty: it is available
  bool names_ranks = true;   // in failures; else their processes
  bool sees_calls = true;    // ranks see each other's calls; else only that one does not end
  // Time that ranks wait for one that does not come. Long for kinds whose ranks also wait for each
  // other while collectives are made: none may be late on a busy machine.
  std::chrono::milliseconds timeout{300};
};

inline void PrintTo(const WorldKind& kind, std::ostream* out) { *out << kind.name; }

class CollectiveContract : public testing::TestWithParam<WorldKind> {
 protected:
  void SetUp() override {
    if (!GetParam().missing.empty()) GTEST_SKIP() << GetParam().missing;
    world_ = GetParam().make();
  }

  int size() const { return world_->size(); }
  int last() const { return size() - 1; }
  void Run(const World::Body& body, const CollectiveOptions& options = {}) {
    world_->Run(options, body);
  }
  void Sync() { world_->Sync(); }

 private:
  std::unique_ptr<World> world_;
};

inline std::string WorldName(const testing::TestParamInfo<WorldKind>& info) {
  return info.param.name;
}

}  // namespace recpack::train

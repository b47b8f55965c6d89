// What every Collective does, whatever carries its arrays: one suite, which each kind instantiates.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// Ranks that run the same body.
class World {
 public:
  using Body = std::function<void(std::unique_ptr<Collective>)>;

  virtual ~World() = default;
  virtual int size() const = 0;
  // Calls `body` for those ranks that this process has, each in a thread of its own, with
  // collectives made for this, once all ranks have theirs. Returns when all are done.
  virtual void Run(const CollectiveOptions& options, const Body& body) = 0;
  // A barrier for bodies that is none of the collective's.
  virtual void Sync() = 0;
};

struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<World>()> make;
  std::string missing = {};  // why there is none here; empty: there is
  bool names_ranks = true;   // in failures; else their processes
  bool sees_calls = true;    // of each other; else only that one does not end
  // How long ranks wait for one that does not come. Long where they wait as well for each other as
  // their collectives are made: none may be too late for that on a machine that is busy.
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

#include "src/loader/run/crew.h"

#include <pthread.h>

#include <utility>

#include "recpack/base/clock.h"
#include "recpack/base/start_thread.h"
#include "recpack/loader/stats.h"

namespace recpack {

void Crew::Start(std::shared_ptr<void> alive, std::function<void()> run) {
  std::promise<void> end;
  Member member;
  member.ended = end.get_future();
  member.thread =
      StartThread([alive = std::move(alive), run = std::move(run), end = std::move(end)]() mutable {
        ::pthread_setname_np(::pthread_self(), kLoaderThreadName);
        run();
        end.set_value();
      });
  members_.push_back(std::move(member));
}

void Crew::End(std::chrono::milliseconds patience) {
  auto deadline = std::chrono::steady_clock::now() + patience;
  const auto ends = [&](const std::future<void>& ended) {
    while (ended.wait_until(deadline) != std::future_status::ready) {
      if (!Overslept(deadline)) return false;
      deadline = std::chrono::steady_clock::now() + patience;
    }
    return true;
  };
  for (Member& member : members_) {
    if (ends(member.ended)) {
      member.thread.join();
    } else {
      member.thread.detach();
    }
  }
  members_.clear();
}

void Crew::Forget() {
  // Neither join nor detach: both would access the thread.
  static auto* const forgotten = new std::vector<std::vector<Member>>;
  forgotten->push_back(std::exchange(members_, {}));
}

}  // namespace recpack

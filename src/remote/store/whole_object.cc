#include "src/remote/store/whole_object.h"

#include <mutex>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/remote/http/reactor.h"
#include "src/remote/http/retry.h"
#include "src/remote/store/service.h"
#include "src/remote/url/url.h"

namespace recpack::remote {

struct WholeObject::State {
  State(const std::string& text, uint64_t listed)
      : path(text), url(ParseUrl(text)), service(Service::ForScheme(url.scheme)), size(listed) {}

  // The answer to a range says how long the whole object is.
  Request MakeRequest() const { return service.Make("GET", url, {{"Range", "bytes=0-"}}); }

  const std::string path;
  const Url url;
  const Service& service;
  const uint64_t size;

  std::mutex mutex;
  bool wanted = true;                  // by the queue; guarded by mutex
  std::shared_ptr<Exchange> exchange;  // guarded by mutex
};

WholeObject::WholeObject(const std::string& url, uint64_t size)
    : state_(std::make_shared<State>(url, size)) {
  Reactor::Get().Queue([state = state_]() -> std::shared_ptr<Exchange> {
    const std::lock_guard lock(state->mutex);
    if (!state->wanted) return nullptr;
    try {
      state->exchange = std::make_shared<Exchange>(state->MakeRequest());
    } catch (...) {  // NOLINT(bugprone-empty-catch): Wait() asks again, and throws
    }
    return state->exchange;
  });
}

WholeObject::~WholeObject() {
  std::shared_ptr<Exchange> exchange;
  {
    const std::lock_guard lock(state_->mutex);
    state_->wanted = false;
    exchange = state_->exchange;
  }
  if (exchange && !exchange->done()) Reactor::Get().Cancel(exchange);
}

ByteView WholeObject::Wait() {
  State& state = *state_;
  state.service.RenewCredentials();
  std::shared_ptr<Exchange> first;
  {
    const std::lock_guard lock(state.mutex);
    state.wanted = false;
    first = state.exchange;
  }
  const auto answer =
      SendWithRetries([&] { return state.MakeRequest(); }, {}, RefusePart, state.path, first);
  {
    const std::lock_guard lock(state.mutex);
    state.exchange = answer;
  }
  if (!answer->ok()) throw state.service.ToError(*answer, state.path);
  if (answer->received() != state.size) {
    throw Error(ErrorKind::kCorrupt,
                format("changed after it was listed: it had {} bytes and now has {}", state.size,
                       answer->received()),
                {.path = WithoutSecrets(state.path)},
                "pack again when no other program writes to it");
  }
  return AsBytes(answer->text());
}

}  // namespace recpack::remote

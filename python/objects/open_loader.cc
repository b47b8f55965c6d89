#include "python/objects/open_loader.h"

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "python/calls/raised.h"
#include "recpack/base/error.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

// Loaders that end on threads of their own. Never destroyed, since these may outlive everything
// else.
struct Endings {
  std::mutex mutex;
  std::condition_variable changed;
  int under_way = 0;
  // Loaders for which no thread could be started.
  std::vector<std::function<void()>> left;
  std::atomic<pid_t> process = 0;  // owner; a forked child has none of them
};

Endings& AllEndings() {
  static auto* const endings = new Endings;
  return *endings;
}

void Begin(Endings& endings) {
  const std::lock_guard lock(endings.mutex);
  if (endings.process.exchange(::getpid()) != ::getpid()) {
    endings.under_way = 0;
    endings.left.clear();
  }
  ++endings.under_way;
}

void End(Endings& endings) {
  const std::lock_guard lock(endings.mutex);
  --endings.under_way;
  endings.changed.notify_all();
}

void Leave(Endings& endings, std::function<void()> ending) {
  const std::lock_guard lock(endings.mutex);
  endings.left.push_back(std::move(ending));
  endings.changed.notify_all();
}

}  // namespace

void OpenLoader::AwaitEndings() {
  Endings& endings = AllEndings();
  if (endings.process != ::getpid()) return;
  const nb::gil_scoped_release unlocked;
  std::unique_lock lock(endings.mutex);
  while (endings.under_way > 0) {
    endings.changed.wait(lock, [&] { return endings.under_way == 0 || !endings.left.empty(); });
    const auto left = std::exchange(endings.left, {});
    lock.unlock();
    for (const auto& ending : left) ending();
    lock.lock();
  }
}

class OpenLoader::Visit {
 public:
  explicit Visit(OpenLoader& of) : of_(of) {
    const std::lock_guard lock(of_.visits_mutex_);
    ++of_.visits_;
  }
  ~Visit() {
    const std::lock_guard lock(of_.visits_mutex_);
    --of_.visits_;
    of_.visit_ended_.notify_all();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  OpenLoader& of_;
};

OpenLoader::OpenLoader(const Mixture& samples, LoaderOptions options, SharedCalls running)
    : running_(std::move(running)), made_in_(::getpid()) {
  options.while_waiting = [this] { WhileWaiting(); };
  const nb::gil_scoped_release unlocked;
  loader_ = std::make_unique<Loader>(samples, std::move(options));
}

Loader& OpenLoader::Open() {
  if (loader_ && !closing_) return *loader_;
  throw Error(ErrorKind::kInvalidArgument, "the loader was closed", {}, "make another");
}

bool OpenLoader::Forked() const noexcept { return ::getpid() != made_in_; }

void OpenLoader::WhileWaiting() {
  {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  Open();
}

std::optional<Batch> OpenLoader::Next() {
  if (Forked()) return Open().Next();  // throws
  const Visit visit(*this);
  try {
    return Wait();
  } catch (const Error& error) {
    ThrowInPython(error);
  }
}

// Requires the GIL and releases it while waiting.
std::optional<Batch> OpenLoader::Wait() {
  const nb::gil_scoped_release unlocked;
  if (waiting_ == std::this_thread::get_id()) {
    throw Error(ErrorKind::kInvalidArgument,
                "a signal's handler asks for a batch while the loader waits for one", {},
                "have the handler set a variable that the loop looks at");
  }
  std::unique_lock turn(turn_);
  Loader& loader = Open();
  waiting_ = std::this_thread::get_id();
  struct Done {
    OpenLoader& of;
    std::unique_lock<std::mutex>& turn;
    ~Done() {
      of.waiting_ = std::thread::id();
      if (of.closing_) of.End(std::move(turn));
    }
  } const done{*this, turn};
  return loader.Next();
}

void OpenLoader::Close() {
  closing_ = true;
  const nb::gil_scoped_release unlocked;
  if (Forked()) return loader_.reset();
  if (waiting_ == std::this_thread::get_id()) return;
  End(std::unique_lock(turn_));
  if (running_.calls->Inside()) return;
  std::unique_lock lock(visits_mutex_);
  visit_ended_.wait(lock, [&] { return visits_ == 0; });
}

// Call without the GIL.
void OpenLoader::End(std::unique_lock<std::mutex> turn) {
  std::unique_ptr<Loader> loader;
  {
    const std::lock_guard lock(kept_);
    loader = std::move(loader_);
  }
  turn.unlock();
  if (!loader) return;
  // Shared, so that it survives if the thread cannot be started.
  const auto end = [calls = running_.calls,
                    ending = std::make_shared<std::unique_ptr<Loader>>(std::move(loader))] {
    const Interrupter interrupter(*calls);
    ending->reset();
  };
  if (!running_.calls->Inside()) return end();
  const auto end_elsewhere = [end] {
    end();  // waits for the thread that is ending
    python::End(AllEndings());
  };
  Begin(AllEndings());
  try {
    std::thread(end_elsewhere).detach();
  } catch (const std::system_error&) {
    Leave(AllEndings(), end_elsewhere);
  }
}

}  // namespace recpack::python

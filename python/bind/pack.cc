// Bindings for packing paths and records made in Python.
#include "src/pack/job/pack.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "python/bind/bind.h"
#include "python/convert/example_values.h"
#include "python/convert/given_path.h"
#include "python/convert/options.h"
#include "python/convert/pack_options.h"
#include "python/convert/text.h"
#include "recpack/base/error.h"
#include "recpack/base/start_thread.h"
#include "src/pack/job/pack_stream.h"
#include "src/pack/open/open_source.h"
#include "src/pack/plan/task.h"
#include "src/pack/plan/unfinished.h"
#include "src/pack/store/store_target.h"
#include "src/remote/sign/credentials.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(100);

// Runs a job in a thread of its own, so that Python's main thread can handle Ctrl-C.
class Job {
 public:
  // Runs `work`, and calls `look` in this thread from time to time, with the GIL. If `look` throws,
  // stop() becomes true, and the exception is rethrown once `work` has ended.
  template <typename Work, typename Look>
  void Run(const Work& work, const Look& look) {
    auto thread = StartThread([&] {
      try {
        work();
      } catch (...) {
        failure_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ = true;
      changed_.notify_all();
    });
    std::exception_ptr stopped;
    while (!Wait()) {
      if (stopped) continue;
      try {
        look();
      } catch (...) {
        stopped = std::current_exception();
        stop_ = true;
      }
    }
    thread.join();
    if (stopped) std::rethrow_exception(stopped);
    if (failure_) std::rethrow_exception(failure_);
  }

  bool stop() const noexcept { return stop_; }

 private:
  // Waits for a while; returns true if the work has ended.
  bool Wait() {
    const nb::gil_scoped_release unlocked;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kBetweenLooks, [&] { return done_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> stop_ = false;
};

struct Stopped {};

using Skipped = std::vector<std::tuple<nb::str, nb::str>>;
using Packed = std::tuple<uint64_t, uint64_t, uint64_t, Skipped, bool, std::vector<nb::str>>;

Packed MakePacked(const pack::Source& source, const pack::PackResult& result) {
  if (result.skip_limit_exceeded) {
    const std::string reason = "more items are bad than may be skipped";
    const std::string advice = "mend them, or raise max_skip";
    if (result.skipped.empty()) {
      throw Error(ErrorKind::kCorrupt, reason + ": those of the other tasks", {}, advice);
    }
    const SkippedItem& first = result.skipped.front();
    throw Error(ErrorKind::kCorrupt, reason + "; the first: " + first.reason, {.path = first.item},
                advice);
  }
  Skipped skipped;
  skipped.reserve(result.skipped.size());
  for (const auto& item : result.skipped) {
    skipped.emplace_back(ToName(item.item), ToText(item.reason));
  }
  return {result.records,     result.bytes,    result.shards,
          std::move(skipped), result.complete, ToTexts(pack::PackNotices(source, result.manifest))};
}

Packed PackPath(const nb::dict& options, const nb::object& progress) {
  nb::dict given = nb::cast<nb::dict>(options.attr("copy")());
  pack::SourceFlags flags = TakeSourceFlags(given);
  const auto shuffle = Take<std::optional<uint64_t>>(given, "shuffle");
  const bool shuffle_classes = Take<bool>(given, "shuffle_classes");
  pack::PackOptions pack = TakePackOptions(given);
  pack.plan.shuffle_seed = shuffle;

  Job job;
  std::atomic<uint64_t> done = 0;
  std::atomic<uint64_t> total = 0;
  pack.progress = [&](uint64_t bytes, uint64_t all) {
    if (job.stop()) throw Stopped();
    done = bytes;
    total = all;
  };
  flags.download_progress = pack.progress;
  std::unique_ptr<pack::Source> source;
  pack::PackResult result;
  job.Run(
      [&] {
        source = pack::OpenSourceToPack(flags, shuffle_classes, pack);
        if (job.stop()) throw Stopped();
        const auto store = pack::DirectToStore(pack);
        result = pack::NamingUrls(store.get(), [&] { return pack::Pack(*source, pack); });
      },
      [&] {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none() && total > 0) progress(done.load(), total.load());
      });
  if (!progress.is_none()) progress(total.load(), total.load());
  return MakePacked(*source, result);
}

// Packs records that are added one by one.
class Stream {
 public:
  explicit Stream(const nb::dict& options) {
    nb::dict given = nb::cast<nb::dict>(options.attr("copy")());
    pack::PackStreamOptions pack;
    pack.out = Absolute(Take<std::string>(given, "out"));
    pack.shard_bytes = Take<uint64_t>(given, "shard_bytes");
    pack.writer = TakeWriterOptions(given);
    pack.class_names = Take<std::vector<std::string>>(given, "class_names");
    pack.created_by = kCreatedBy;
    pack.sync = Take<bool>(given, "sync");
    pack.overwrite = Take<bool>(given, "overwrite");
    const nb::gil_scoped_release unlocked;
    store_ = pack::DirectToStore(pack);
    stream_.emplace(pack);
  }

  void BeginSplit(const std::string& name) { stream_.value().BeginSplit(name); }

  void Add(const nb::dict& features) {
    // May run Python code, which may discard this object.
    ExampleBuilder& builder = values_.Set(features);
    stream_.value().Add(builder);
    values_.Clear();
  }

  Packed Finish() {
    pack::PackStream stream = std::move(stream_.value());  // removes its files on failure
    stream_.reset();
    const nb::gil_scoped_release unlocked;
    const Manifest manifest = pack::NamingUrls(store_.get(), [&] { return stream.Finish(); });
    uint64_t shards = 0;
    for (const ManifestSplit& split : manifest.splits) shards += split.shards.size();
    return {manifest.records(), manifest.bytes(), shards, {}, true, {}};
  }

  // Removes everything that was not finished.
  void Discard() {
    const nb::gil_scoped_release unlocked;  // a store is asked
    stream_.reset();
    store_.reset();
  }

 private:
  ExampleValues values_;
  std::unique_ptr<pack::StoreTarget> store_;  // outlives the stream
  std::optional<pack::PackStream> stream_;
};

}  // namespace

void BindPack(nb::module_& module) {
  module.def("pack_path", PackPath, nb::arg("options"), nb::arg("progress").none());
  module.def(
      "find_task",
      [] {
        const pack::PackTask task = pack::ParseTask("auto", remote::ProcessEnvironment);
        return std::pair(task.number, task.count);
      },
      "Returns (task, tasks) of this process, from the environment.");
  module.def("tasks_begun", &pack::TasksBegun, nb::arg("out"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Returns the number of tasks of a pack that was begun there, or None.");
  nb::class_<Stream>(module, "PackStream")
      .def(nb::init<const nb::dict&>(), nb::arg("options"))
      .def("begin_split", &Stream::BeginSplit, nb::arg("name"), nb::lock_self())
      .def("add", &Stream::Add, nb::arg("features"), nb::lock_self())
      .def("finish", &Stream::Finish, nb::lock_self())
      .def("discard", &Stream::Discard, nb::lock_self());
}

}  // namespace recpack::python

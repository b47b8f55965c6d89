#include "src/probe/cupti/cupti_trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "recpack/base/descriptor.h"
#include "src/base/format.h"

namespace recpack::probe {
namespace {

constexpr auto kFlushInterval = std::chrono::milliseconds(500);
constexpr int64_t kLargestDrift = 1'000'000;  // ns

CuptiTrace* tracing = nullptr;  // target of CUPTI's callbacks

void CUPTIAPI OnRequest(uint8_t** buffer, size_t* size, size_t* most_records) {
  tracing->Request(buffer, size, most_records);
}

void CUPTIAPI OnComplete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  tracing->Complete(buffer, valid);
}

void CUPTIAPI OnCall(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

}  // namespace

void Notice(const std::string& text) noexcept {
  const char* folder = std::getenv("RECPACK_EVENTS");
  if (folder == nullptr) return;
  try {
    const std::string path = format("{}/{}-cupti.notice", folder, ::getpid());
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    const std::string line = text + "\n";
    if (file.get() < 0 || ::write(file.get(), line.data(), line.size()) < 0) return;
  } catch (const std::exception&) {  // out of memory
    return;
  }
}

CuptiTrace::CuptiTrace(std::unique_ptr<EventLog> log)
    : api_(Cupti()), pid_(::getpid()), log_(std::move(log)), events_(*log_, clock_) {
  tracing = this;
}

bool CuptiTrace::Start() {
  if (!Subscribe()) return false;
  if (api_.set_thread_id_type != nullptr) {
    api_.set_thread_id_type(1);  // CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM: those of gettid()
  }
  clock_.Start(api_);
  if (const auto code = api_.register_callbacks(&OnRequest, &OnComplete); code != CUPTI_SUCCESS) {
    Notice(format("nothing is traced: cuptiActivityRegisterCallbacks: {}", api_.Text(code)));
    return false;
  }
  EnableCalls();
  Enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels");
  Enable(CUPTI_ACTIVITY_KIND_MEMCPY, "copies");
  Enable(CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices");
  Enable(CUPTI_ACTIVITY_KIND_MEMSET, "fills of memory");
  Enable(CUPTI_ACTIVITY_KIND_MARKER, "NVTX ranges");
  flusher_ = std::thread([this] { FlushPeriodically(); });
  return true;
}

bool CuptiTrace::Subscribe() {
  CUpti_SubscriberHandle subscriber = nullptr;
  std::string other;
  CUptiResult code = CUPTI_SUCCESS;
#if CUPTI_API_VERSION >= 130000
  if (api_.subscribe_named != nullptr) {
    char name[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN * 2] = {};
    CUpti_SubscriberParams parameters = {};
    parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    parameters.subscriberName = "recprobe";
    parameters.oldSubscriberName = name;
    parameters.oldSubscriberSize = sizeof(name) - 1;
    code = api_.subscribe_named(&subscriber, &OnCall, nullptr, &parameters);
    other = name;
  } else {
    code = api_.subscribe(&subscriber, &OnCall, nullptr);
  }
#else
  code = api_.subscribe(&subscriber, &OnCall, nullptr);
#endif
  if (code == CUPTI_SUCCESS) return true;
  if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    Notice(
        format("nothing is traced: another profiler{} watches this process, and CUDA allows "
               "one; run it without that, or without --trace",
               other.empty() ? "" : format(" ({})", other)));
  } else {
    Notice(format("nothing is traced: cuptiSubscribe: {}", api_.Text(code)));
  }
  return false;
}

void CuptiTrace::Enable(CUpti_ActivityKind kind, const char* what) {
  const CUptiResult code = api_.enable(kind);
  if (code == CUPTI_SUCCESS) return;
  const char* advice = code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
                           ? "; run as root or with CAP_SYS_ADMIN, or load the driver with "
                             "NVreg_RestrictProfilingToAdminUsers=0"
                           : "";
  Notice(format("{} are not traced: {}{}", what, api_.Text(code), advice));
}

void CuptiTrace::EnableCalls() {
  const auto enable = [&](CUpti_CallbackDomain domain, const auto& enable_call,
                          CUpti_ActivityKind kind, const char* what) {
    std::vector<std::string> names = WorkCalls(api_, domain);
    if (enable_call == nullptr) {  // an older CUPTI: traces all calls; AddCall() filters them
      Enable(kind, what);
      return names;
    }
    for (size_t call = 0; call < names.size(); ++call) {
      if (!names[call].empty()) enable_call(static_cast<CUpti_CallbackId>(call), 1);
    }
    return names;
  };
  auto runtime = enable(CUPTI_CB_DOMAIN_RUNTIME_API, api_.enable_runtime_call,
                        CUPTI_ACTIVITY_KIND_RUNTIME, "calls of CUDA's runtime");
  auto driver = enable(CUPTI_CB_DOMAIN_DRIVER_API, api_.enable_driver_call,
                       CUPTI_ACTIVITY_KIND_DRIVER, "calls of CUDA's driver");
  events_.SetCalls(std::move(runtime), std::move(driver));
}

void CuptiTrace::FlushPeriodically() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);  // leaves signals to the program's threads
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, kFlushInterval, [this] { return stop_; })) {
    lock.unlock();
    clock_.Measure(api_);
    api_.flush_all(0);
    lock.lock();
  }
}

void CuptiTrace::Finish() {
  if (::getpid() != pid_) return;
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    stop_ = true;
    stopped_.notify_all();
  }
  if (flusher_.joinable()) flusher_.join();
  clock_.Measure(api_);
  api_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  NoteLosses();
}

void CuptiTrace::NoteLosses() {
  const std::lock_guard lock(events_mutex_);
  size_t dropped = 0;
  if (api_.dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped > 0) {
    Notice(format("{} records were dropped: they came faster than they could be written", dropped));
  }
  if (events_.unfinished() > 0) {
    Notice(format("{} kernels and copies had not ended at the end of the process",
                  events_.unfinished()));
  }
  if (events_.lost_ranges() > 0) {
    Notice(format("{} NVTX ranges are missing: more than {} were open at once",
                  events_.lost_ranges(), ActivityEvents::kMostOpenRanges));
  }
  if (events_.unnamed() > 0) {
    Notice(format("{} events have no name: there were more than {} names", events_.unnamed(),
                  ActivityEvents::kMostNames));
  }
  if (std::abs(clock_.drift()) > kLargestDrift) {
    Notice(format("the wall clock was set by {} ms while CUDA was traced: times near then are off",
                  -clock_.drift() / 1'000'000));
  }
}

void CuptiTrace::Request(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = buffers_.Take();
  *size = *buffer == nullptr ? 0 : ActivityBuffers::kSize;
  *most_records = 0;  // as many as fit
}

void CuptiTrace::Complete(uint8_t* buffer, size_t size) {
  if (buffer == nullptr) return;
  {
    const std::lock_guard lock(events_mutex_);
    CUpti_Activity* record = nullptr;
    while (api_.next_record(buffer, size, &record) == CUPTI_SUCCESS) events_.Add(*record);
  }
  log_->Flush();
  buffers_.GiveBack(buffer);
}

}  // namespace recpack::probe

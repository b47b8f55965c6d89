// Fake of CUDA's libcupti.so.13. The file that FAKE_CUPTI names has a line per record, delivered at
// the next flush if its kind is enabled. Times are on CUPTI's clock.
//
//   kernel DEVICE STREAM BEGIN END NAME         call runtime|driver NUMBER THREAD BEGIN END
//   copy KIND DEVICE STREAM BEGIN END BYTES     marker FLAGS ID THREAD TIME [DOMAIN:]NAME
//   peer DEVICE STREAM BEGIN END BYTES          many COUNT    kernels at once
//   fill DEVICE STREAM BEGIN END BYTES          graph         a record of another kind
//   fail FUNCTION CODE                          skew NS       its clock minus CLOCK_MONOTONIC
//   forced                                      deliver only at a forced flush
#include <cupti.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct State {
  std::recursive_mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  uint64_t (*now)() = nullptr;
  std::set<int> kinds;
  std::set<std::pair<int, uint32_t>> calls;  // kind, number
  std::deque<std::string> texts;             // names, valid until the process ends
  std::vector<std::string> script;
  size_t dropped = 0;
};

State& Of() {
  static State& state = *new State;  // never destroyed: threads use it until the process ends
  return state;
}

std::vector<std::string> ReadScript() {
  std::vector<std::string> lines;
  if (const char* path = std::getenv("FAKE_CUPTI")) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  return lines;
}

// Returns the words after `key` on its first line; empty without such a line.
std::string Find(const std::string& key) {
  for (const std::string& line : ReadScript()) {
    if (line == key) return " ";
    if (line.rfind(key + " ", 0) == 0) return line.substr(key.size() + 1);
  }
  return {};
}

CUptiResult Enter(const char* function) {
  for (const std::string& line : ReadScript()) {
    std::istringstream words(line);
    std::string fail, name;
    int code = 0;
    if (words >> fail >> name >> code && fail == "fail" && name == function) {
      return static_cast<CUptiResult>(code);
    }
  }
  return CUPTI_SUCCESS;
}

const char* Keep(const std::string& text) { return Of().texts.emplace_back(text).c_str(); }

// Fills the client's buffers and returns them.
class Writer {
 public:
  ~Writer() { Give(); }

  template <typename Record>
  void Put(const Record& record) {
    if (buffer_ != nullptr && used_ + sizeof(Record) > size_) Give();
    if (buffer_ == nullptr) {
      size_t most = 0;
      Of().request(&buffer_, &size_, &most);
      if (buffer_ == nullptr) {
        ++Of().dropped;
        return;
      }
    }
    std::memcpy(buffer_ + used_, &record, sizeof(Record));
    used_ += sizeof(Record);
  }
  // Keeps filled buffers until the end, as CUPTI does while work is in progress.
  void Hold() {
    held_.push_back({buffer_, used_});
    buffer_ = nullptr;
    used_ = 0;
  }
  bool full() const { return buffer_ != nullptr && used_ + 1024 > size_; }

 private:
  void Give() {
    if (buffer_ != nullptr) Of().complete(nullptr, 0, buffer_, size_, used_);
    for (const auto& [buffer, used] : held_) Of().complete(nullptr, 0, buffer, size_, used);
    held_.clear();
    buffer_ = nullptr;
    used_ = 0;
  }

  uint8_t* buffer_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
  std::vector<std::pair<uint8_t*, size_t>> held_;
};

bool Enabled(CUpti_ActivityKind kind) { return Of().kinds.count(kind) != 0; }

void PutKernel(std::istringstream& words, Writer& writer) {
  uint64_t begin = 0, end = 0;
  uint32_t device = 0, stream = 0;
  std::string name;
  words >> device >> stream >> begin >> end >> name;
  CUpti_ActivityKernel10 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.deviceId = device;
  record.streamId = stream;
  record.start = begin;
  record.end = end;
  record.name = Keep(name);
  if (Enabled(record.kind)) writer.Put(record);
}

template <typename Record>
void PutMove(std::istringstream& words, Writer& writer, CUpti_ActivityKind kind, Record record) {
  uint64_t begin = 0, end = 0, bytes = 0;
  uint32_t device = 0, stream = 0;
  words >> device >> stream >> begin >> end >> bytes;
  record.kind = kind;
  record.deviceId = device;
  record.streamId = stream;
  record.start = begin;
  record.end = end;
  record.bytes = bytes;
  if (Enabled(kind)) writer.Put(record);
}

void PutCall(std::istringstream& words, Writer& writer) {
  std::string which;
  uint64_t begin = 0, end = 0;
  uint32_t number = 0, thread = 0;
  words >> which >> number >> thread >> begin >> end;
  CUpti_ActivityAPI record = {};
  const auto kind = which == "runtime" ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
  record.kind = kind;
  record.cbid = number;
  record.threadId = thread;
  record.start = begin;
  record.end = end;
  if (Enabled(kind) || Of().calls.count({kind, number}) != 0) writer.Put(record);
}

void PutMarker(std::istringstream& words, Writer& writer) {
  uint64_t time = 0;
  uint32_t flags = 0, id = 0, thread = 0;
  std::string name;
  words >> flags >> id >> thread >> time >> name;
  CUpti_ActivityMarker2 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_MARKER;
  record.flags = static_cast<CUpti_ActivityFlag>(flags);
  record.timestamp = time;
  record.id = id;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.threadId = thread;
  const size_t colon = name.find(':');
  record.domain = colon == std::string::npos ? nullptr : Keep(name.substr(0, colon));
  const std::string plain = colon == std::string::npos ? name : name.substr(colon + 1);
  record.name = plain.empty() ? nullptr : Keep(plain);
  if (Enabled(record.kind)) writer.Put(record);
}

void PutMany(std::istringstream& words, Writer& writer) {
  uint64_t count = 0;
  words >> count;
  const char* name = Keep("k");
  for (uint64_t i = 0; i < count; ++i) {
    CUpti_ActivityKernel10 record = {};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = 10 * i + 1;
    record.end = 10 * i + 5;
    record.name = name;
    writer.Put(record);
    if (writer.full()) writer.Hold();
  }
}

void Put(const std::string& line, Writer& writer) {
  std::istringstream words(line);
  std::string what;
  words >> what;
  if (what == "kernel") PutKernel(words, writer);
  if (what == "copy") {
    unsigned kind = 0;
    words >> kind;
    CUpti_ActivityMemcpy6 record = {};
    record.copyKind = static_cast<uint8_t>(kind);
    PutMove(words, writer, CUPTI_ACTIVITY_KIND_MEMCPY, record);
  }
  if (what == "peer") {
    CUpti_ActivityMemcpyPtoP4 record = {};
    record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    PutMove(words, writer, CUPTI_ACTIVITY_KIND_MEMCPY2, record);
  }
  if (what == "fill") PutMove(words, writer, CUPTI_ACTIVITY_KIND_MEMSET, CUpti_ActivityMemset4{});
  if (what == "call") PutCall(words, writer);
  if (what == "marker") PutMarker(words, writer);
  if (what == "many") PutMany(words, writer);
  if (what == "graph") {
    CUpti_ActivityAPI record = {};
    record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    writer.Put(record);
  }
}

size_t SizeOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_MARKER:
      return sizeof(CUpti_ActivityMarker2);
    default:
      return sizeof(CUpti_ActivityAPI);
  }
}

}  // namespace

extern "C" {

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                                        : "CUPTI_ERROR_SOME";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
  return Enter("cuptiSubscribe");
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*,
                              CUpti_SubscriberParams* parameters) {
  const CUptiResult code = Enter("cuptiSubscribe");
  if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    std::snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "Nsight Systems");
  }
  return code;
}

CUptiResult cuptiGetTimestamp(uint64_t* time) {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string skew = Find("skew");
  *time = static_cast<uint64_t>(int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec +
                                std::strtoll(skew.c_str(), nullptr, 10));
  return Enter("cuptiGetTimestamp");
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc now) {
  Of().now = now;
  return Enter("cuptiActivityRegisterTimestampCallback");
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t call, const char** name) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    *name = call == 211   ? "cudaLaunchKernel_v7000"
            : call == 41  ? "cudaMemcpyAsync_v3020"
            : call == 17  ? "cudaGetDevice_v3020"
            : call == 217 ? "cudaStreamSynchronize_ptsz_v7000"
                          : nullptr;
  } else {
    *name = call == 307 ? "cuLaunchKernel" : call == 280 ? "cuMemcpyHtoDAsync_v2_ptsz" : nullptr;
  }
  return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  Of().request = request;
  Of().complete = complete;
  return Enter("cuptiActivityRegisterCallbacks");
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::string function = "cuptiActivityEnable-" + std::to_string(kind);
  if (const CUptiResult code = Enter(function.c_str()); code != CUPTI_SUCCESS) return code;
  Of().kinds.insert(kind);
  return CUPTI_SUCCESS;
}

#ifndef FAKE_CUPTI_OLD

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, uint8_t) {
  Of().calls.insert({CUPTI_ACTIVITY_KIND_RUNTIME, call});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId call, uint8_t) {
  Of().calls.insert({CUPTI_ACTIVITY_KIND_DRIVER, call});
  return CUPTI_SUCCESS;
}

#endif

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  State& state = Of();
  const std::lock_guard lock(state.mutex);
  if (flag == 0 && !Find("forced").empty()) return CUPTI_SUCCESS;
  static size_t given = 0;  // lines
  const auto lines = ReadScript();
  Writer writer;
  for (; given < lines.size(); ++given) Put(lines[given], writer);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t size, CUpti_Activity** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record) + SizeOf((*record)->kind);
  }
  if (next >= buffer + size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = Of().dropped;
  return CUPTI_SUCCESS;
}

int InitializeInjectionNvtx2(const void* (*get_export_table)(uint32_t)) {
  return get_export_table(7) == nullptr ? 5 : 6;
}

}  // extern "C"

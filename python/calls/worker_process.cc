#include "python/calls/worker_process.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "recpack/base/error.h"

namespace recpack::python {
namespace {

constexpr int kBetweenLooks = 1000;  // milliseconds
constexpr int kLooksForItsEnd = 1000;
constexpr auto kBetweenLooksForItsEnd = std::chrono::milliseconds(10);

struct AnswerMessage {
  uint64_t raised;  // 0: success
  uint64_t bytes;   // otherwise: size of the failure, at 0
};

std::span<uint8_t> Map(const Descriptor& memory) {
  struct stat about = {};
  if (::fstat(memory.get(), &about) != 0) throw SystemError("fstat of shared memory", "", errno);
  const auto bytes = static_cast<size_t>(about.st_size);
  void* const start =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.get(), 0);
  if (start == MAP_FAILED) throw SystemError("mapping memory shared with a process", "", errno);
  return {static_cast<uint8_t*>(start), bytes};
}

}  // namespace

WorkerProcess::WorkerProcess(int socket, int memory, pid_t id)
    : socket_(socket), id_(id), memory_(Map(Descriptor(memory))) {}

WorkerProcess::~WorkerProcess() { ::munmap(memory_.data(), memory_.size()); }

void WorkerProcess::Stop() noexcept {
  stopped_ = true;
  ::shutdown(socket_.get(), SHUT_RDWR);
}

ByteView WorkerProcess::Call(const CallMessage& call) { return Send(&call, sizeof call, -1); }

ByteView WorkerProcess::Call(const BatchMessage& call, int slab) {
  return Send(&call, sizeof call, slab);
}

// `descriptor`: -1: sends none.
ByteView WorkerProcess::Send(const void* message, size_t bytes, int descriptor) {
  iovec part = {.iov_base = const_cast<void*>(message), .iov_len = bytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> rights = {};
  msghdr whole = {};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  if (descriptor >= 0) {
    whole.msg_control = rights.data();
    whole.msg_controllen = rights.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&whole);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  while (::sendmsg(socket_.get(), &whole, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) ThrowEnded();
  }
  return Answer();
}

ByteView WorkerProcess::Answer() {
  AnswerMessage answer = {};
  for (;;) {
    pollfd look = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&look, 1, kBetweenLooks);
    // The socket stays open if another process has its other end too.
    if (ready == 0 && HasEnded(nullptr)) ThrowEnded();
    if (ready <= 0) continue;
    const ssize_t got = ::recv(socket_.get(), &answer, sizeof answer, 0);
    if (got == sizeof answer) break;
    if (got >= 0 || errno != EINTR) ThrowEnded();
  }
  if (answer.raised == 0) return {};
  return ByteView(memory_).first(std::min<size_t>(answer.bytes, memory_.size()));
}

// Does not reap the process.
bool WorkerProcess::HasEnded(std::string* how) const {
  siginfo_t about = {};
  if (::waitid(P_PID, static_cast<id_t>(id_), &about, WEXITED | WNOHANG | WNOWAIT) != 0) {
    return errno == ECHILD && ::kill(id_, 0) != 0 && errno == ESRCH;
  }
  if (about.si_pid == 0) return false;
  if (how != nullptr && about.si_code == CLD_EXITED) {
    *how = "exited with status " + std::to_string(about.si_status);
  } else if (how != nullptr) {
    *how = "was killed by signal " + std::to_string(about.si_status) + " (" +
           ::strsignal(about.si_status) + ")";
  }
  return true;
}

void WorkerProcess::ThrowEnded() {
  if (stopped_) {
    throw Error(ErrorKind::kInvalidArgument, "the loader was closed", {}, "make another");
  }
  std::string how = "ended";
  for (int i = 0; i < kLooksForItsEnd && !HasEnded(&how); ++i) {
    std::this_thread::sleep_for(kBetweenLooksForItsEnd);
  }
  throw Error(ErrorKind::kIo,
              "the worker process " + std::to_string(id_) + " of the loader's functions " + how, {},
              "what it wrote to stderr may say why; signal 9 without a sender is the kernel's, for "
              "want of memory: take fewer workers");
}

}  // namespace recpack::python

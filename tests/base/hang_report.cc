// Report of hanging tests: prints the stacks of all threads, as mangled names (for c++filt),
// shortly before ctest's timeout. Linked into each test program; does nothing unless
// RECPACK_TEST_SECONDS, the timeout of a test, is set in the environment.
#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/base/own_symbols.h"

namespace recpack {
namespace {

constexpr int kTell = SIGUSR2;  // makes a thread print its stack
constexpr int kPatienceMs = 2000;

std::atomic<int> told = 0;        // last thread that printed its stack
std::array<char, 256> test_name;  // current test
const OwnSymbols* symbols = nullptr;

// The following runs in signal handlers and must not allocate: the test may hang in the allocator.

void Say(const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void SayNumber(long number) {
  std::array<char, 24> digits;
  size_t at = digits.size() - 1;
  digits[at] = '\0';
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  Say(&digits[at]);
}

int ThisThread() { return static_cast<int>(::syscall(SYS_gettid)); }

void SayStack() {
  std::array<void*, 64> frames;
  const int count = ::backtrace(frames.data(), frames.size());
  for (int i = 0; i < count; ++i) {
    if (const char* const name = symbols->NameOf(frames[static_cast<size_t>(i)])) {
      Say(name);
      Say("\n");
    } else {  // in a library
      ::backtrace_symbols_fd(&frames[static_cast<size_t>(i)], 1, STDERR_FILENO);
    }
  }
}

void OnTell(int) {
  SayStack();
  told = ThisThread();
}

void AskForStack(int thread) {
  Say("thread ");
  SayNumber(thread);
  Say(":\n");
  if (thread == ThisThread()) return SayStack();
  told = 0;
  ::syscall(SYS_tgkill, ::getpid(), thread, kTell);
  for (int ms = 0; ms < kPatienceMs && told != thread; ++ms) {
    const timespec one_ms{0, 1'000'000};
    ::nanosleep(&one_ms, nullptr);
  }
  if (told != thread) Say("(it takes no signals, or has ended)\n");
}

template <typename Call>
void ForEachThread(Call call) {
  const int folder = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  alignas(dirent64) std::array<char, 4096> buffer;
  for (;;) {
    const long bytes = ::syscall(SYS_getdents64, folder, buffer.data(), buffer.size());
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      if (entry->d_name[0] != '.') call(std::atoi(entry->d_name));
      at += entry->d_reclen;
    }
  }
  ::close(folder);
}

void OnAlarm(int) {
  Say("\nhangs: ");
  Say(test_name.data());
  Say(". Its threads:\n");
  ForEachThread(AskForStack);
  ::signal(SIGALRM, SIG_DFL);
  ::raise(SIGALRM);
}

class HangReport final : public testing::EmptyTestEventListener {
 public:
  explicit HangReport(unsigned seconds) : seconds_(seconds) {
    void* frame = nullptr;
    ::backtrace(&frame, 1);  // loads libgcc now, not in the handler
    symbols = new OwnSymbols;
    ::signal(kTell, OnTell);
    ::signal(SIGALRM, OnAlarm);
  }
  void OnTestStart(const testing::TestInfo& test) override {
    std::snprintf(test_name.data(), test_name.size(), "%s.%s", test.test_suite_name(), test.name());
    ::alarm(seconds_);
  }
  void OnTestEnd(const testing::TestInfo&) override { ::alarm(0); }

 private:
  const unsigned seconds_;
};

[[maybe_unused]] const bool appended = [] {
  const char* const text = std::getenv("RECPACK_TEST_SECONDS");
  const int seconds = text == nullptr ? 0 : std::atoi(text);
  if (seconds <= 0) return false;
  testing::UnitTest::GetInstance()->listeners().Append(
      new HangReport(static_cast<unsigned>(seconds) * 9 / 10));
  return true;
}();

}  // namespace
}  // namespace recpack

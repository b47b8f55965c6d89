#include "tests/train/cuda_emulated/fibre.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>

#if defined(__SANITIZE_ADDRESS__)
#define RECPACK_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RECPACK_ADDRESS_SANITIZER
#endif
#endif
#ifdef RECPACK_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace recpack::emulated {
namespace {

size_t Page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

void StartSwitch([[maybe_unused]] void** fake, [[maybe_unused]] const void* stack,
                 [[maybe_unused]] size_t size) {
#ifdef RECPACK_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fake, stack, size);
#endif
}

void FinishSwitch([[maybe_unused]] void* fake, [[maybe_unused]] const void** stack,
                  [[maybe_unused]] size_t* size) {
#ifdef RECPACK_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake, stack, size);
#endif
}

}  // namespace

Fibre::Fibre() {
  memory_ = mmap(nullptr, kStack + Page(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  mprotect(memory_, Page(), PROT_NONE);
}

Fibre::~Fibre() { munmap(memory_, kStack + Page()); }

// Uses a context the first time, then jumps, which need no system calls.
bool Fibre::Run(void (*body)()) {
  void* const stack = static_cast<char*>(memory_) + Page();
  const bool begins = !body_;
  if (begins) {
    body_ = body;
    getcontext(&start_);
    start_.uc_stack.ss_sp = stack;
    start_.uc_stack.ss_size = kStack;
    start_.uc_link = nullptr;
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&start_, reinterpret_cast<void (*)()>(Enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
  }
  StartSwitch(&outside_fake_, stack, kStack);
  if (_setjmp(outside_) == 0) {
    if (begins) setcontext(&start_);
    _longjmp(inside_, 1);
  }
  FinishSwitch(outside_fake_, nullptr, nullptr);
  return !body_;
}

void Fibre::Leave() {
  StartSwitch(&inside_fake_, outside_stack_, outside_size_);
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
  FinishSwitch(inside_fake_, &outside_stack_, &outside_size_);
}

void Fibre::Enter(unsigned high, unsigned low) {
  auto* const self = reinterpret_cast<Fibre*>(uintptr_t{high} << 32 | low);
  FinishSwitch(nullptr, &self->outside_stack_, &self->outside_size_);
  self->body_();
  self->body_ = nullptr;
  StartSwitch(nullptr, self->outside_stack_, self->outside_size_);  // null: it does not return
  _longjmp(self->outside_, 1);
}

}  // namespace recpack::emulated

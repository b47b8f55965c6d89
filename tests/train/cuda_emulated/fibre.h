// A function that can yield in the middle and be resumed. Belongs to one thread.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>

namespace recpack::emulated {

class Fibre {
 public:
  static constexpr size_t kStack = size_t{128} << 10;  // bytes; a guard page comes in addition

  Fibre();
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // Runs the body until it ends or yields; the next Run() resumes it, with the same body if it has
  // not ended. Returns true if it has ended.
  bool Run(void (*body)());

  // Called by the running fibre: returns to its Run().
  void Leave();

 private:
  static void Enter(unsigned high, unsigned low);

  ucontext_t start_;
  jmp_buf outside_, inside_;
  void* memory_;
  void (*body_)() = nullptr;  // null: none in progress
  // Notifies AddressSanitizer of a stack switch.
  void *outside_fake_ = nullptr, *inside_fake_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_size_ = 0;
};

}  // namespace recpack::emulated

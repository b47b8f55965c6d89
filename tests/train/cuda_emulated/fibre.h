// A function that can be left in the middle and gone on with. Of one thread.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>

namespace recpack::emulated {

class Fibre {
 public:
  static constexpr size_t kStack = size_t{128} << 10;  // bytes; one page more is a guard

  Fibre();
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // Runs the body until it ends or leaves; the next Run() after that goes on, with the same body
  // if it has not ended. Returns whether it has.
  bool Run(void (*body)());

  // Of the fibre that runs: back to its Run().
  void Leave();

 private:
  static void Enter(unsigned high, unsigned low);

  ucontext_t start_;
  jmp_buf outside_, inside_;
  void* memory_;
  void (*body_)() = nullptr;  // null: none is under way
  // Of AddressSanitizer: what it must be told of a change of stacks.
  void *outside_fake_ = nullptr, *inside_fake_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_size_ = 0;
};

}  // namespace recpack::emulated

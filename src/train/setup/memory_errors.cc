#include "src/train/setup/memory_errors.h"

#include "recpack/base/out_of_memory.h"
#include "src/base/format.h"
#include "src/train/cpu/cpu_ops.h"

namespace recpack::train {
namespace {

constexpr char kAdvice[] = "use a smaller --batch-size or model, bf16, or fewer devices";

std::string Purpose(const std::string& where, size_t batch_size) {
  if (batch_size == 0) return format("for batches of the default size on {}", where);
  return format("for batches of {} samples on {}", batch_size, where);
}

}  // namespace

void WithMemoryErrors(const std::function<std::string()>& where, size_t batch_size,
                      const std::function<void()>& work) {
  try {
    work();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(format("{}, {}", error.reason(), Purpose(where(), batch_size)),
                      error.advice().empty() ? kAdvice : error.advice());
  } catch (const HostMemoryError& error) {
    throw OutOfMemory(format("{}, {}", error.what(), Purpose(where(), batch_size)), kAdvice);
  } catch (const std::exception& error) {
    if (!IsOutOfMemory(error)) throw;
    throw OutOfMemory(
        format("out of host memory ({}), {}", error.what(), Purpose(where(), batch_size)), kAdvice);
  }
}

}  // namespace recpack::train

#include "recpack/base/shared_library.h"

#include <dlfcn.h>

#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

std::string LastError() {
  const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
  return text ? text : "unknown reason";
}

}  // namespace

SharedLibrary::SharedLibrary(std::string name, const std::string& elsewhere, const std::string& fix,
                             Symbols symbols)
    : name_(std::move(name)) {
  const int flags = RTLD_NOW | (symbols == Symbols::kShared ? RTLD_GLOBAL : RTLD_LOCAL);
  handle_ = dlopen(name_.c_str(), flags);
  if (handle_) return;
  const std::string reason = LastError();
  if (!elsewhere.empty()) handle_ = dlopen(elsewhere.c_str(), flags);
  if (handle_) return;
  throw Error(ErrorKind::kUnsupported, format("{} cannot be loaded: {}", name_, reason), {},
              elsewhere.empty() ? fix : format("{}; this build also looks for {}", fix, elsewhere));
}

void* SharedLibrary::Find(const char* name) const {
  void* function = dlsym(handle_, name);
  if (function) return function;
  throw Error(ErrorKind::kUnsupported, format("{} has no function {}", name_, name), {},
              "install the version that the program was built with");
}

}  // namespace recpack

// Simulates the injection of CUDA and NVTX: loads the libraries that the environment names and
// calls their entry points. Arguments: "nvtx": prints the result for NVTX; "wait PATH": waits until
// PATH exists; "fork": forks a child that ends first.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

namespace {

template <typename Function>
Function* Find(const char* variable, const char* name) {
  void* library = dlopen(std::getenv(variable), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    std::exit(2);
  }
  return reinterpret_cast<Function*>(dlsym(library, name));
}

const void* ExportTable(uint32_t) { return nullptr; }

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "nvtx") == 0) {
    auto* nvtx =
        Find<int(const void* (*)(uint32_t))>("NVTX_INJECTION64_PATH", "InitializeInjectionNvtx2");
    std::printf("nvtx %d\n", nvtx(&ExportTable));
  }
  std::printf("init %d\n", Find<int()>("CUDA_INJECTION64_PATH", "InitializeInjection")());
  if (argc > 2 && std::strcmp(argv[1], "wait") == 0) {
    while (!std::filesystem::exists(argv[2])) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  if (argc > 1 && std::strcmp(argv[1], "fork") == 0) {
    std::fflush(stdout);
    const int child = ::fork();
    if (child == 0) std::exit(0);
    ::waitpid(child, nullptr, 0);
  }
  return 0;
}

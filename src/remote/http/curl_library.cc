#include "src/remote/http/curl_library.h"

#include <dlfcn.h>

#include <string>

#include "recpack/base/error.h"

namespace recpack::remote {
namespace {

constexpr const char* kNames[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

void* Open() {
  for (const char* name : kNames) {
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  const char* const reason = ::dlerror();
  throw Error(ErrorKind::kUnsupported,
              std::string("data at URLs needs libcurl: ") + (reason == nullptr ? "" : reason), {},
              "install it: apt install libcurl4");
}

template <typename Function>
void Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function != nullptr) return;
  throw Error(ErrorKind::kUnsupported, std::string("libcurl has no ") + name, {},
              "install libcurl 7.68 or newer");
}

CurlLibrary Load() {
  void* const library = Open();
  CurlLibrary curl = {};
  Find(library, "curl_global_init", curl.global_init);
  Find(library, "curl_easy_init", curl.easy_init);
  Find(library, "curl_easy_setopt", curl.easy_setopt);
  Find(library, "curl_easy_getinfo", curl.easy_getinfo);
  Find(library, "curl_easy_reset", curl.easy_reset);
  Find(library, "curl_easy_strerror", curl.easy_strerror);
  Find(library, "curl_slist_append", curl.slist_append);
  Find(library, "curl_slist_free_all", curl.slist_free_all);
  Find(library, "curl_multi_init", curl.multi_init);
  Find(library, "curl_multi_setopt", curl.multi_setopt);
  Find(library, "curl_multi_add_handle", curl.multi_add_handle);
  Find(library, "curl_multi_remove_handle", curl.multi_remove_handle);
  Find(library, "curl_multi_socket_action", curl.multi_socket_action);
  Find(library, "curl_multi_info_read", curl.multi_info_read);
  Find(library, "curl_multi_strerror", curl.multi_strerror);
  curl.global_init(CURL_GLOBAL_DEFAULT);
  return curl;
}

}  // namespace

const CurlLibrary& Curl() {
  static const CurlLibrary curl = Load();
  return curl;
}

}  // namespace recpack::remote

// libcurl, loaded at the first URL: programs that use local files do not pay for it.
#pragma once

#include <curl/curl.h>

namespace recpack::remote {

// Functions of libcurl (curl.se/libcurl/c). Its macros for checking types do not apply to these.
struct CurlLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...);
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  CURLMcode (*multi_setopt)(CURLM*, CURLMoption, ...);
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_socket_action) multi_socket_action;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_strerror) multi_strerror;
};

// Loads the library at the first call. Thread-safe. Throws Error (kUnsupported) that says what to
// install.
const CurlLibrary& Curl();

}  // namespace recpack::remote

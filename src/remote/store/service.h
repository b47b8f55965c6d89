// Requests to object stores and web servers, signed where there are credentials.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "recpack/base/error.h"
#include "src/remote/http/exchange.h"
#include "src/remote/identity/identity.h"
#include "src/remote/sign/credentials.h"
#include "src/remote/sign/sign_v4.h"
#include "src/remote/url/url.h"

namespace recpack::remote {

// Object store with the settings that the environment had at its first use. Immutable and
// thread-safe.
class Service {
 public:
  // Returns the service of the scheme; never destroyed. Throws what FindSettings() throws.
  static const Service& ForScheme(const std::string& scheme);

  Service(std::string scheme, StoreSettings settings)
      : scheme_(std::move(scheme)), identity_(std::move(settings), ProcessEnvironment) {}

  // Makes a request for the object `url`, signed for now. `headers` are signed as well. Throws
  // Error (kInvalidArgument) for credentials that would go over plain HTTP to another machine.
  Request Make(const std::string& method, const Url& url, const Headers& headers,
               std::string body = {}) const;

  // The same with a query, for the operations on an object that have one.
  Request MakeWithQuery(const std::string& method, const Url& url, const Headers& query,
                        const Headers& headers = {}, std::string body = {}) const;

  // Makes a request for the bucket of `url`, with a query.
  Request MakeForBucket(const Url& url, const Headers& query) const;

  // Renews credentials that end soon: where requests are made on the reactor's thread, those who
  // wait for their answers do that. May wait for the network. Never throws: who makes the next
  // request sees what is wrong.
  void RenewCredentials() const noexcept;

  // Header with which an object becomes a copy of that of `source`, in the same store.
  std::pair<std::string, std::string> CopyOf(const Url& source) const;

  // Header with which an object is written only if there is none of its name.
  std::pair<std::string, std::string> OnlyIfNew() const;

  // Returns the error of a failed answer, with what the store says. `exchange`: not ok.
  Error ToError(const Exchange& exchange, const std::string& path) const;
  // Returns the error for an answer of another version than the one that was opened.
  static Error ChangedError(const std::string& path);

 private:
  struct Target {
    std::string base;  // "https://host"
    std::string host;
    std::string path;  // encoded, with the first slash
  };
  Target FindTarget(const Url& url, const std::string& key) const;
  // Returns the target of the store itself. `path`: encoded, with the first slash.
  Target StoreTarget(const std::string& path) const;
  // Bucket whose name is like this one's; empty: none, or they may not be listed.
  std::string NearestBucket(const std::string& bucket) const;
  bool is_web() const noexcept { return scheme_.starts_with("http"); }
  // Adds the header that says who pays for a request with these credentials.
  void AddPayer(const Credentials& credentials, Headers& headers) const;
  Request Sign(const std::string& method, const Target& target, const Headers& query,
               const Headers& more, std::string body) const;

  std::string scheme_;
  Identity identity_;
};

}  // namespace recpack::remote

// Answers of the services and files that give credentials.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/remote/http/exchange.h"

namespace recpack::remote {

// Throws Error (kIo): `source` is set up, but gives no credentials.
[[noreturn]] void FailSource(const std::string& source, const std::string& reason);

// Reads a small file, without the newlines at its end. Throws what ReadWholeFile() throws.
std::string ReadText(const std::string& path);

// Sends a request, again where that may help, and returns the answer. Throws Error (kIo) unless
// it is a success.
std::shared_ptr<Exchange> Ask(const Request& request, const std::string& source);

// Sends a request to a machine's metadata service, once and with a short time limit: most machines
// have none.
std::shared_ptr<Exchange> AskMetadata(Request request);

// Parses a JSON object. Throws Error (kIo) if it is none.
nlohmann::json ParseObject(const std::string& text, const std::string& source);

// Returns the text of a member; empty if it is missing or no text.
std::string TextOf(const nlohmann::json& object, const char* key);

// Parses "2026-11-25T12:30:00Z" (RFC 3339 in UTC) to seconds since 1970; 0 if it is not that.
int64_t ParseTime(const std::string& text);

}  // namespace recpack::remote

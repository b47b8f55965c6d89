// Parses HTTP/1.1 requests (RFC 9112) and formats responses, for a server of a single text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recpack::probe {

// Returns the end of a request's head, after its empty line; npos if it is not complete.
size_t HttpHeadEnd(std::string_view bytes) noexcept;

// Returns the response to a request with this head. It closes the connection. GET and HEAD of
// /metrics return `metrics`; 503 if it is empty.
std::string HttpAnswer(std::string_view head, const std::string& metrics);

// Returns the response to a head that is too long.
std::string HttpTooLong();

}  // namespace recpack::probe

// HTTP/1.1 (RFC 9112), as much as a server of one text needs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recpack::probe {

// Where the head of a request ends: behind its empty line; npos: not yet.
size_t HttpHeadEnd(std::string_view bytes) noexcept;

// The whole answer to a request with this head; the connection is closed behind it. GET and HEAD of
// /metrics give `metrics`.
std::string HttpAnswer(std::string_view head, const std::string& metrics);

// To a head that is longer than it may be.
std::string HttpTooLong();

}  // namespace recpack::probe

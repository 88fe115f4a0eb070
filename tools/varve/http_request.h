// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads requests of HTTP/1.0 and 1.1 that ask for one page, and refuses all others. Knows bytes
// only, no sockets.

#include <cstddef>
#include <string>
#include <string_view>

namespace varve::tool {

// Longest head of a request, its empty line included.
inline constexpr size_t kMaxHttpHead = 8192;

struct HttpRequest {
  bool head = false;         // The client wants no body.
  bool openmetrics = false;  // The client names this form among those that it takes.
};

// Returns 0 while the head is incomplete; 200 for a request of `page`, and fills *request; else the
// status of the refusal. Only requests to this machine's loopback names are taken, as a page of a
// browser could otherwise read the answer under a name of its own.
int ReadHttpRequest(std::string_view bytes, std::string_view page, HttpRequest* request);

// Returns a whole answer that closes the connection.
std::string HttpAnswer(int status, std::string_view type, std::string_view body, bool head);
// Returns the answer to a request that was refused; `why` may be empty.
std::string HttpRefusal(int status, std::string_view why);

}  // namespace varve::tool

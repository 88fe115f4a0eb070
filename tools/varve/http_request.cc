// SPDX-License-Identifier: Apache-2.0

// Only what collectors send is understood, and everything else is refused by its status. The head
// is checked as soon as bytes come: a control character is refused before the head is complete, and
// the head has a limit. A request with a body is refused rather than read.
//
// The name in Host must be a loopback one. The server listens on the loopback interface only, but a
// web page could point a name of its own there and read the answer in the user's browser; its
// requests name that host.

#include "tools/varve/http_request.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace varve::tool {

namespace {

constexpr std::string_view kEnd = "\r\n\r\n";

// True for a character of a method's or a header's name.
bool IsTokenCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenCharacter);
}

// True unless a control character, or a line's end that is not CR LF, stands in the text.
bool IsPrintable(std::string_view text) {
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] == '\n')) continue;
    if (text[i] == '\n' && i > 0 && text[i - 1] == '\r') continue;
    if ((byte < 0x20 && text[i] != '\t') || byte == 0x7f) return false;
  }
  return true;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Removes and returns the first line.
std::string_view TakeLine(std::string_view* rest) {
  const size_t end = rest->find("\r\n");
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(end + 2);
  return line;
}

// Returns 200, or the status of the refusal.
int ReadRequestLine(std::string_view line, std::string_view page, bool* newer,
                    HttpRequest* request) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return 400;
  const std::string_view method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!IsToken(method) || target.empty() || target.front() != '/') return 400;
  if (target.find(' ') != std::string_view::npos) return 400;
  if (version != "HTTP/1.0" && version != "HTTP/1.1") return 400;
  if (method != "GET" && method != "HEAD") return 405;
  *newer = version == "HTTP/1.1";
  request->head = method == "HEAD";
  // A query is accepted and ignored.
  target = target.substr(0, target.find('?'));
  return target == page ? 200 : 404;
}

bool IsLoopback(std::string_view host) {
  const size_t port = host.rfind(':');
  const size_t bracket = host.rfind(']');
  // In "[::1]:80" only the colon behind the bracket begins a port.
  const bool has_port =
      port != std::string_view::npos && (bracket == std::string_view::npos || port > bracket);
  if (has_port) host = host.substr(0, port);
  const std::string name = Lower(host);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

// Collects what matters of the headers.
struct Headers {
  int hosts = 0;
  bool loopback = false;

  // Returns 200, or the status of the refusal.
  int Add(std::string_view line, HttpRequest* request) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return 400;
    const std::string name = Lower(line.substr(0, colon));
    const std::string_view value = Trim(line.substr(colon + 1));
    if (name == "host") {
      hosts++;
      loopback = IsLoopback(value);
    } else if (name == "transfer-encoding" || (name == "content-length" && value != "0")) {
      // A body has no use here, and its end would have to be found.
      return 413;
    } else if (name == "accept") {
      request->openmetrics |=
          Lower(value).find("application/openmetrics-text") != std::string::npos;
    }
    return 200;
  }
};

constexpr std::array<std::pair<int, const char*>, 10> kReasons = {
    {{200, "OK"},
     {400, "Bad Request"},
     {403, "Forbidden"},
     {404, "Not Found"},
     {405, "Method Not Allowed"},
     {408, "Request Timeout"},
     {413, "Content Too Large"},
     {431, "Request Header Fields Too Large"},
     {500, "Internal Server Error"},
     {503, "Service Unavailable"}}};

const char* ReasonOf(int status) {
  for (const auto& [number, reason] : kReasons) {
    if (number == status) return reason;
  }
  return "Unknown";
}

}  // namespace

int ReadHttpRequest(std::string_view bytes, std::string_view page, HttpRequest* request) {
  const std::string_view seen = bytes.substr(0, kMaxHttpHead);
  const size_t end = seen.find(kEnd);
  const std::string_view head =
      seen.substr(0, end == std::string_view::npos ? seen.size() : end + kEnd.size());
  if (!IsPrintable(head)) return 400;
  if (end == std::string_view::npos) return bytes.size() >= kMaxHttpHead ? 431 : 0;
  std::string_view rest = head.substr(0, end + 2);
  bool newer = false;
  const int asked = ReadRequestLine(TakeLine(&rest), page, &newer, request);
  // Other refusals wait for the headers: a request under a foreign name gets 403, whatever it asks
  // for.
  if (asked == 400) return asked;
  Headers headers;
  while (!rest.empty()) {
    const int status = headers.Add(TakeLine(&rest), request);
    if (status != 200) return status;
  }
  // HTTP/1.1 requires one Host; in HTTP/1.0 it may be absent. No browser sends such a request.
  if (headers.hosts > 1 || (newer && headers.hosts == 0)) return 400;
  if (headers.hosts == 1 && !headers.loopback) return 403;
  return asked;
}

std::string HttpAnswer(int status, std::string_view type, std::string_view body, bool head) {
  std::string answer = "HTTP/1.1 " + std::to_string(status) + " " + ReasonOf(status) + "\r\n";
  answer += "Content-Type: " + std::string(type) + "\r\n";
  answer += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  if (status == 405) answer += "Allow: GET, HEAD\r\n";
  answer += "Cache-Control: no-store\r\nConnection: close\r\n\r\n";
  if (!head) answer += body;
  return answer;
}

std::string HttpRefusal(int status, std::string_view why) {
  std::string body = std::to_string(status) + " " + ReasonOf(status);
  if (!why.empty()) body += ": " + std::string(why);
  return HttpAnswer(status, "text/plain; charset=utf-8", body + "\n", false);
}

}  // namespace varve::tool

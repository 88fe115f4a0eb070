// SPDX-License-Identifier: Apache-2.0
#pragma once

// HttpServer answers requests of one page on a port of the loopback interface, in the thread that
// runs it. Nothing that a client does delays the others for longer than the page takes to make.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "varve/status.h"

#include "tools/varve/http_request.h"

namespace varve::tool {

// Not thread-safe. A process runs one at a time, as it handles the signals that end Run().
class HttpServer {
 public:
  // Makes the page for a request: its media type and its bytes. An error is answered with status
  // 503 and its text.
  using MakePage = std::function<Status(const HttpRequest&, std::string* type, std::string* body)>;
  static constexpr size_t kMaxConnections = 32;
  // Time that a client has to send its request, and again to take the answer.
  static constexpr std::chrono::milliseconds kPatience{5000};
  // Pause while the process has no file descriptor left for a new client.
  static constexpr std::chrono::milliseconds kNoFilePause{100};

  // `page` is the path that is answered, such as "/metrics"; others get status 404.
  HttpServer(std::string page, MakePage make);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Takes the port; 0 is a free one. Returns IOError if it is taken.
  Status Listen(uint16_t port);
  uint16_t port() const { return port_; }
  // Answers until SIGINT or SIGTERM comes, which must be blocked in all threads.
  Status Run();

 private:
  enum class Phase : uint8_t { kReading, kWriting, kDraining };
  struct Connection {
    int fd = -1;
    Phase phase = Phase::kReading;
    std::chrono::steady_clock::time_point deadline;
    std::string in;
    std::string out;
    size_t sent = 0;
  };

  void Accept();
  void Serve(Connection* connection);
  void Read(Connection* connection);
  void Write(Connection* connection);
  static void Drain(Connection* connection);
  void Expire(Connection* connection);
  void Answer(Connection* connection, std::string answer);
  static void Close(Connection* connection);

  const std::string page_;
  const MakePage make_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::vector<Connection> connections_;
};

}  // namespace varve::tool

// SPDX-License-Identifier: Apache-2.0

// One thread serves all connections, by ppoll. Each goes through three phases, and has a deadline
// in each:
//
//     kReading --whole head or refusal--> kWriting --all sent--> kDraining --end or 0.5 s--> closed
//         '--5 s--> answer 408                '--5 s--> closed
//
// Sockets do not block, so a slow client costs a place and no time. At most kMaxConnections have a
// place; others wait in the system's queue. Draining reads what the client still sends: closing at
// once would make the system reset the connection, and the answer could be lost.
//
// SIGINT and SIGTERM are blocked except within ppoll, so a signal that comes while a page is made
// is seen at the next wait, and none is lost between the test and the wait.

#include "tools/varve/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace varve::tool {

namespace {

using Clock = std::chrono::steady_clock;

// A client that has its answer may send so long what nobody reads, so that the answer is not lost
// in a reset of the connection.
constexpr std::chrono::milliseconds kDrainTime{500};

volatile std::sig_atomic_t stop_asked = 0;

void AskToStop(int /*signal*/) {
  stop_asked = 1;
}

Status Failed(const char* what) {
  return Status::IOError(what, std::strerror(errno));
}

bool WouldBlock(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace

HttpServer::HttpServer(std::string page, MakePage make)
    : page_(std::move(page)), make_(std::move(make)) {}

HttpServer::~HttpServer() {
  for (Connection& connection : connections_) Close(&connection);
  if (listener_ >= 0) ::close(listener_);
}

Status HttpServer::Listen(uint16_t port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return Failed("socket");
  const int on = 1;
  static_cast<void>(::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_, 64) != 0) {
    return Failed(("port " + std::to_string(port) + " of 127.0.0.1").c_str());
  }
  socklen_t length = sizeof(address);
  if (::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return Failed("getsockname");
  }
  port_ = ntohs(address.sin_port);
  return Status::OK();
}

Status HttpServer::Run() {
  struct sigaction action {};
  action.sa_handler = AskToStop;
  sigset_t open_mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &open_mask);
  sigdelset(&open_mask, SIGINT);
  sigdelset(&open_mask, SIGTERM);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::vector<pollfd> polled;
  while (stop_asked == 0) {
    polled.clear();
    // At the limit new clients wait in the system's queue.
    polled.push_back(
        {listener_, static_cast<short>(connections_.size() < kMaxConnections ? POLLIN : 0), 0});
    Clock::time_point next = Clock::now() + std::chrono::hours(1);
    for (const Connection& one : connections_) {
      polled.push_back(
          {one.fd, static_cast<short>(one.phase == Phase::kWriting ? POLLOUT : POLLIN), 0});
      next = std::min(next, one.deadline);
    }
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::max(next - Clock::now(), Clock::duration(0)));
    const timespec wait{static_cast<time_t>(left.count() / 1'000'000'000),
                        static_cast<long>(left.count() % 1'000'000'000)};
    if (::ppoll(polled.data(), polled.size(), &wait, &open_mask) < 0 && errno != EINTR) {
      return Failed("ppoll");
    }
    if (stop_asked != 0) break;
    // connections_ is as it was when polled was filled: it changes only below, so that the indexes
    // agree.
    for (size_t i = 0; i < connections_.size(); i++) {
      if (polled[i + 1].revents != 0) Serve(&connections_[i]);
      if (connections_[i].fd >= 0 && Clock::now() >= connections_[i].deadline) {
        Expire(&connections_[i]);
      }
    }
    std::erase_if(connections_, [](const Connection& one) { return one.fd < 0; });
    if (polled[0].revents != 0) Accept();
  }
  return Status::OK();
}

void HttpServer::Accept() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    // The client has left, or the process has no file left: then others must leave first.
    if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(kNoFilePause);
    return;
  }
  Connection connection;
  connection.fd = fd;
  connection.deadline = Clock::now() + kPatience;
  connections_.push_back(std::move(connection));
}

void HttpServer::Serve(Connection* connection) {
  switch (connection->phase) {
    case Phase::kReading:
      return Read(connection);
    case Phase::kWriting:
      return Write(connection);
    case Phase::kDraining:
      return Drain(connection);
  }
}

void HttpServer::Read(Connection* connection) {
  char buffer[kMaxHttpHead];
  const ssize_t got = ::recv(connection->fd, buffer, sizeof(buffer), 0);
  if (WouldBlock(got)) return;
  if (got <= 0) return Close(connection);
  connection->in.append(buffer, static_cast<size_t>(got));
  HttpRequest request;
  const int status = ReadHttpRequest(connection->in, page_, &request);
  if (status == 0) return;
  if (status != 200) {
    return Answer(connection, HttpRefusal(status, status == 404 ? "the page is " + page_ : ""));
  }
  std::string type;
  std::string body;
  const Status s = make_(request, &type, &body);
  Answer(connection,
         s.ok() ? HttpAnswer(200, type, body, request.head) : HttpRefusal(503, s.ToString()));
}

// Tries to send at once: most answers fit in the socket's buffer, and no second round is needed.
void HttpServer::Answer(Connection* connection, std::string answer) {
  connection->out = std::move(answer);
  connection->phase = Phase::kWriting;
  connection->deadline = Clock::now() + kPatience;
  Write(connection);
}

void HttpServer::Write(Connection* connection) {
  const std::string& out = connection->out;
  const ssize_t put = ::send(connection->fd, out.data() + connection->sent,
                             out.size() - connection->sent, MSG_NOSIGNAL);
  if (WouldBlock(put)) return;
  if (put < 0) return Close(connection);
  connection->sent += static_cast<size_t>(put);
  if (connection->sent < out.size()) return;
  ::shutdown(connection->fd, SHUT_WR);
  connection->phase = Phase::kDraining;
  connection->deadline = Clock::now() + kDrainTime;
}

void HttpServer::Drain(Connection* connection) {
  char buffer[4096];
  const ssize_t got = ::recv(connection->fd, buffer, sizeof(buffer), 0);
  if (got > 0 || WouldBlock(got)) return;
  Close(connection);
}

void HttpServer::Expire(Connection* connection) {
  if (connection->phase == Phase::kReading) return Answer(connection, HttpRefusal(408, ""));
  Close(connection);
}

void HttpServer::Close(Connection* connection) {
  if (connection->fd >= 0) ::close(connection->fd);
  connection->fd = -1;
}

}  // namespace varve::tool

// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/case_runner.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "tests/differential/c_player.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestSegment{30};

// Sends an answer on the pipe: its length in eight bytes, then its bytes.
void Send(int pipe, const std::string& answer) {
  const uint64_t size = answer.size();
  std::string frame(reinterpret_cast<const char*>(&size), sizeof(size));
  frame += answer;
  for (size_t sent = 0; sent < frame.size();) {
    const ssize_t n = write(pipe, frame.data() + sent, frame.size() - sent);
    if (n <= 0) _exit(1);
    sent += static_cast<size_t>(n);
  }
}

std::vector<std::string> Frames(const std::string& bytes) {
  std::vector<std::string> answers;
  uint64_t size = 0;
  for (size_t at = 0; at + sizeof(size) <= bytes.size(); at += size) {
    std::memcpy(&size, bytes.data() + at, sizeof(size));
    at += sizeof(size);
    if (at + size > bytes.size()) break;
    answers.push_back(bytes.substr(at, size));
  }
  return answers;
}

// Runs in the child. Nothing is closed: the process ends as in a crash.
[[noreturn]] void PlaySegment(const CApi* api, const std::string& directory, const History& history,
                              size_t from, size_t to, int pipe) {
  auto* const player = new CPlayer(api, directory);
  for (size_t i = from; i < to; i++) Send(pipe, player->Do(history[i]));
  _exit(0);
}

// Reads until the other end is closed. Returns false on a timeout.
bool ReadAll(int pipe, std::chrono::steady_clock::time_point end, std::string* bytes) {
  char buffer[1 << 16];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waiting = {pipe, POLLIN, 0};
    if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) == 0) return false;
    const ssize_t n = read(pipe, buffer, sizeof(buffer));
    if (n <= 0) return true;
    bytes->append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace

// Holds one library's process in a segment.
struct CaseRunner::Side {
  pid_t pid = -1;
  int pipe = -1;
  std::vector<std::string> answers;
  std::string failure;  // "" when it answered all

  void Start(const CApi* api, const std::string& directory, const History& history, size_t from,
             size_t to) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    pid = fork();
    if (pid == 0) {
      close(ends[0]);
      PlaySegment(api, directory, history, from, to, ends[1]);
    }
    close(ends[1]);
    pipe = ends[0];
  }

  void Finish(size_t lines) {
    std::string bytes;
    const bool ended = ReadAll(pipe, std::chrono::steady_clock::now() + kLongestSegment, &bytes);
    if (!ended) kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    close(pipe);
    answers = Frames(bytes);
    if (!ended) {
      failure = "HANGS";
    } else if (WIFSIGNALED(status)) {
      failure = std::string("DIES of ") + strsignal(WTERMSIG(status));
    } else if (answers.size() < lines) {
      failure = "ENDS with " + std::to_string(WEXITSTATUS(status));
    }
  }
};

CaseRunner::CaseRunner(const CApi* ours, const CApi* theirs, const MeantDifferences* meant,
                       std::string directory)
    : ours_(ours), theirs_(theirs), meant_(*meant), directory_(std::move(directory)) {}

void CaseRunner::Compare(const History& history, size_t from, size_t to, const Side& ours,
                         const Side& theirs, Comparison* result) const {
  std::vector<AnsweredLine> session;
  for (size_t i = from; i < to; i++) {
    const size_t at = i - from;
    if (at >= theirs.answers.size()) {
      result->theirs_failed = true;
      return;
    }
    const bool answered = at < ours.answers.size();
    const AnsweredLine line = {history[i].Text(), answered ? ours.answers[at] : ours.failure,
                               theirs.answers[at]};
    result->compared++;
    result->answers.push_back(line.varve);
    if (history[i].verb() == "open") session.clear();
    session.push_back(line);
    if (line.varve == line.rocksdb) continue;
    const MeantDifference* const meant = FindMeant(meant_, line, session);
    if (meant == nullptr) {
      result->differs = true;
      result->line = i;
      result->ours = line.varve;
      result->theirs = line.rocksdb;
      return;
    }
    result->meant++;
    result->stopped = meant->stops;
    if (result->stopped) return;
  }
}

Comparison CaseRunner::Run(const History& history) {
  Comparison result;
  std::string ours = directory_ + "/a";
  std::string theirs = directory_ + "/b";
  fs::remove_all(directory_);
  fs::create_directories(directory_);
  const auto goes_on = [&] { return !result.differs && !result.stopped && !result.theirs_failed; };
  for (size_t from = 0; from < history.size() && goes_on();) {
    size_t to = from;
    while (to < history.size() && history[to].verb() != "crash") to++;
    Side our_side;
    Side their_side;
    our_side.Start(ours_, ours, history, from, to);
    their_side.Start(theirs_, theirs, history, from, to);
    our_side.Finish(to - from);
    their_side.Finish(to - from);
    Compare(history, from, to, our_side, their_side, &result);
    if (to < history.size() && history[to].Has("swap")) std::swap(ours, theirs);
    from = to + 1;
  }
  fs::remove_all(directory_);
  return result;
}

std::string Trace(const History& history, const Comparison& comparison) {
  std::string text;
  size_t answered = 0;
  for (const Line& line : history) {
    text += line.Text() + "\n";
    if (line.verb() == "crash") continue;
    if (answered == comparison.answers.size()) break;
    text += "    " + comparison.answers[answered++] + "\n";
  }
  return text;
}

std::string Explained(const History& history, const Comparison& comparison) {
  return "line " + std::to_string(comparison.line + 1) + ": " + history[comparison.line].Text() +
         "\n  Varve answers " + comparison.ours + "\n  RocksDB       " + comparison.theirs + "\n";
}

}  // namespace varve::testing

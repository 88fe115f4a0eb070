// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/child_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace varve::testing {

ChildProcess::ChildProcess(const std::function<void()>& body) {
  fflush(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  body();
  _exit(0);
}

bool ChildProcess::Kill() {
  if (pid_ <= 0) return false;
  int status = 0;
  const bool ended = waitpid(pid_, &status, WNOHANG) == pid_;
  if (!ended) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  return !ended;
}

bool ChildProcess::EndsWell() {
  int status = 0;
  const bool ended = pid_ > 0 && waitpid(pid_, &status, 0) == pid_;
  pid_ = -1;
  return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

FreshDirectory::FreshDirectory(const std::string& name) {
  const char* const base = getenv("TEST_TMPDIR");
  path_ = std::string(base != nullptr ? base : "/tmp") + "/varve-" + name + "-" +
          std::to_string(getpid());
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

FreshDirectory::~FreshDirectory() {
  std::filesystem::remove_all(path_);
}

}  // namespace varve::testing

// SPDX-License-Identifier: Apache-2.0
#include "util/env/guarded_copy.h"

#if defined(__linux__) && defined(__x86_64__)

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>

// size_t varve_guarded_copy(char* to, const char* from, size_t n). A fault in the one instruction
// between the labels leaves the number of bytes not copied in rcx.
asm(R"(
  .pushsection .text
  .p2align 5
  .hidden varve_guarded_copy
  .globl varve_guarded_copy
  .type varve_guarded_copy, @function
varve_guarded_copy:
  .cfi_startproc
  mov %rdx, %rcx
  .hidden varve_guarded_copy_load
  .globl varve_guarded_copy_load
varve_guarded_copy_load:
  rep movsb
  .hidden varve_guarded_copy_end
  .globl varve_guarded_copy_end
varve_guarded_copy_end:
  mov %rcx, %rax
  ret
  .cfi_endproc
  .size varve_guarded_copy, .-varve_guarded_copy
  .popsection
)");

extern "C" {
[[gnu::visibility("hidden")]] size_t varve_guarded_copy(char* to, const char* from, size_t n);
[[gnu::visibility("hidden")]] extern const char varve_guarded_copy_load[];
[[gnu::visibility("hidden")]] extern const char varve_guarded_copy_end[];
}

namespace varve {

namespace {

// Runs in the faulting thread. It may only do what is safe in a signal handler: it compares and
// changes the saved program counter, and calls sigaction and raise. At the end label the count of
// bytes that were not copied is still in rcx, where the processor left it, and becomes the result.
void OnBusError(int signal, siginfo_t* info, void* context) {
  greg_t& at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  if (at == reinterpret_cast<greg_t>(varve_guarded_copy_load)) {
    at = reinterpret_cast<greg_t>(varve_guarded_copy_end);
    return;
  }
  // A fault happens again on return, and then ends the process. A signal that was sent by kill or
  // sigqueue, with a code that is not positive, does not come again by itself, and is raised here.
  struct sigaction by_system = {};
  by_system.sa_handler = SIG_DFL;
  (void)::sigaction(SIGBUS, &by_system, nullptr);
  if (info->si_code <= 0) (void)::raise(signal);
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &OnBusError;
}

// Owns the handler.
class Handler {
 public:
  constexpr Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  // Gives SIGBUS back before the code of OnBusError is unmapped with the library. A handler that
  // the program has installed since is left alone.
  ~Handler() {
    struct sigaction now = {};
    if (!installed_.load(std::memory_order_acquire) || ::sigaction(SIGBUS, nullptr, &now) != 0 ||
        !IsOurs(now)) {
      return;
    }
    struct sigaction by_system = {};
    by_system.sa_handler = SIG_DFL;
    (void)::sigaction(SIGBUS, &by_system, nullptr);
  }

  // True if the handler is in place. Installs it at most once, and never over another.
  bool Stands() {
    struct sigaction now = {};
    if (::sigaction(SIGBUS, nullptr, &now) != 0) return false;
    if (IsOurs(now)) return true;
    const bool free = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    // Once only: if the handler was installed and is gone, the program has taken it away on
    // purpose. Two threads that come here at once race for the flag, and the loser's copies are
    // refused until it looks again.
    if (!free || installed_.exchange(true, std::memory_order_acq_rel)) return false;
    struct sigaction ours = {};
    ours.sa_sigaction = &OnBusError;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    (void)::sigemptyset(&ours.sa_mask);
    return ::sigaction(SIGBUS, &ours, nullptr) == 0;
  }

 private:
  std::atomic<bool> installed_{false};
};

Handler handler;

bool Blocked() {
  sigset_t blocked;
  return ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 ||
         ::sigismember(&blocked, SIGBUS) != 0;
}

// The number of copies that this thread may make before it looks again; if negative, the number of
// copies that it is refused before it looks again.
[[gnu::tls_model("initial-exec")]] constinit thread_local int turns = 0;

}  // namespace

bool GuardedCopy::Ready() {
  if (turns > 0) [[likely]] {
    turns--;
    return true;
  }
  if (turns < 0) {
    turns++;
    return false;
  }
  // Costs two system calls, hence the turns: a refusal lasts as long as a permission.
  const bool ready = !Blocked() && handler.Stands();
  turns = ready ? kTurns - 1 : -kTurns;
  return ready;
}

bool GuardedCopy::Refused() {
  return turns < 0;
}

size_t GuardedCopy::Copy(char* to, const char* from, size_t n) {
  return varve_guarded_copy(to, from, n);
}

}  // namespace varve

#else

namespace varve {

bool GuardedCopy::Ready() {
  return false;
}

bool GuardedCopy::Refused() {
  return true;
}

size_t GuardedCopy::Copy(char* /*to*/, const char* /*from*/, size_t n) {
  return n;
}

}  // namespace varve

#endif

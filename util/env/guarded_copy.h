// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies from a mapped file without fear of it: where the file was truncated, or cannot be read,
// the copy ends early instead of the process.
//
// A load from a mapping raises SIGBUS where the file has no page to give. The only load that this
// library makes from the mapping of a table is the copy instruction below, and a handler of SIGBUS
// continues behind that instruction. The handler is a polite guest:
// 1. It is installed when the first file is mapped, and only if the program leaves SIGBUS to the
//    system (SIG_DFL). A program or a runtime that has a handler of its own, or ignores the signal,
//    keeps it, and files are not mapped.
// 2. If the program installs a handler later, that one stays, and copies are refused from then on;
//    each thread looks every kTurns copies.
// 3. A thread that blocks SIGBUS is refused copies, as the system would end the process for it.
// 4. Any other SIGBUS ends the process as it would have without the handler.
// 5. The handler goes when the library is unloaded. It runs on the thread's alternate stack, if
//    there is one, and touches nothing but the saved program counter.

#include <cstddef>

namespace varve {

// Thread safety: all functions may be called from any thread.
class GuardedCopy {
 public:
  // Number of copies of one thread between two looks at the state of the signal.
  static constexpr int kTurns = 64;

  // True if this thread may call Copy now. False on processors for which there is no such copy.
  static bool Ready();
  // True if Ready refused this thread when it last looked at the state of the signal.
  static bool Refused();
  // Copies `n` bytes and returns 0, or returns the number of bytes at the end that could not be
  // read. `from` is in a mapping; `to` is ordinary memory. Requires Ready().
  static size_t Copy(char* to, const char* from, size_t n);
};

}  // namespace varve

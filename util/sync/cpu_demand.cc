// SPDX-License-Identifier: Apache-2.0
#include "util/sync/cpu_demand.h"

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "util/sync/idle_threads.h"

namespace varve {

// The text is like "0.20 0.18 0.12 1/80 11206": three averages, then runnable threads / all
// threads.
size_t ParseRunnableThreads(const char* text) noexcept {
  for (int i = 0; i < 3; i++) {
    text = ::strchr(text, ' ');
    if (text == nullptr) return 0;
    text++;
  }
  char* end = nullptr;
  const unsigned long runnable = ::strtoul(text, &end, 10);
  return end != text && *end == '/' ? runnable : 0;
}

bool ProcessorsAreShort() noexcept {
  // The file stays open until the process ends: opening it costs more than reading it.
  static const int file = ::open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  static const size_t processors = static_cast<size_t>(::get_nprocs());
  if (file < 0) return false;
  char text[128];
  const ssize_t got = ::pread(file, text, sizeof(text) - 1, 0);
  if (got <= 0) return false;
  text[got] = '\0';
  const size_t runnable = ParseRunnableThreads(text);
  return runnable > processors && runnable > processors + IdleThreads::OfMachine().Count();
}

}  // namespace varve

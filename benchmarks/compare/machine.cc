// SPDX-License-Identifier: Apache-2.0

// Describes the machine for the reader of the figures.

#include <sched.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "benchmarks/compare/report.h"

namespace compare {
namespace {

std::string ProcessorName() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "a processor without a name";
}

int Cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  return sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 1;
}

std::string FileSystemOf(const std::string& folder) {
  struct statfs facts = {};
  if (statfs(folder.c_str(), &facts) != 0) return "an unknown file system";
  switch (static_cast<unsigned long>(facts.f_type)) {
    case 0x01021994:
      return "tmpfs";
    case 0xef53:
      return "ext4";
    case 0x58465342:
      return "XFS";
    case 0x9123683e:
      return "Btrfs";
    case 0x794c7630:
      return "overlayfs";
    default:
      break;
  }
  char text[40];
  std::snprintf(text, sizeof(text), "file system %#lx", static_cast<unsigned long>(facts.f_type));
  return text;
}

}  // namespace

std::string DescribeMachine(const std::string& folder) {
  utsname system = {};
  uname(&system);
  const double gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30);
  char memory[40];
  std::snprintf(memory, sizeof(memory), "%.0f GiB", gib);
  return ProcessorName() + ", " + std::to_string(Cores()) + " cores, " + memory + " of memory, " +
         system.sysname + " " + system.release + ", databases on " + FileSystemOf(folder);
}

}  // namespace compare

// SPDX-License-Identifier: Apache-2.0

// The program `varve`: runs one command, and ends with the status that exit_status.h defines. Under
// the names `ldb` and `sst_dump` it is what RocksDB calls so.

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>

#include "tools/varve/command_line.h"
#include "tools/varve/console.h"
#include "tools/varve/fronts.h"

namespace varve::tool {
namespace {

int Report(const std::string& name, const Status& status) {
  const std::string advice = AdviceFor(status);
  Console::Note("varve " + name + ": " + status.ToString() + (advice.empty() ? "" : ". " + advice));
  return StatusOf(status);
}

// A reader that has gone away has seen what it wanted.
int ReportOutput(const std::string& name, int error) {
  if (error == EPIPE) return kGood;
  Console::Note("varve " + name + ": the output cannot be written: " + std::strerror(error));
  return kFailed;
}

int Main(int argc, const char* const* argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::string path = argc > 0 ? argv[0] : "";
  const std::string program = path.substr(path.find_last_of('/') + 1);
  if (program == "ldb") return RunLdb(argc, argv);
  if (program == "sst_dump") return RunSstDump(argc, argv);
  Invocation invocation;
  if (const auto ended = ReadCommandLine(argc, argv, &invocation)) return *ended;
  Console console;
  console.json = invocation.request.json;
  const Status s = invocation.command->run(invocation.request, &console);
  console.out.Flush();
  if (!s.ok()) return Report(invocation.command->name, s);
  if (console.out.failed()) return ReportOutput(invocation.command->name, console.out.error());
  return console.found ? kFound : kGood;
}

}  // namespace
}  // namespace varve::tool

int main(int argc, char** argv) {
  try {
    return varve::tool::Main(argc, argv);
  } catch (const std::exception& error) {
    varve::tool::Console::Note(std::string("varve: ") + error.what());
    return varve::tool::kFailed;
  }
}

// SPDX-License-Identifier: Apache-2.0

// Has values of the engine's types for gdb to print, and stops at a breakpoint beside them.

#include <memory>
#include <string>

#include "varve/db.h"
#include "varve/io_status.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/copy/copy_host.h"
#include "db/engine/engine.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {
namespace {

// gdb stops here.
[[gnu::noinline]] void Stop(const Version& tree) {
  const Slice plain("a\"b\0c", 5);
  const Slice empty;
  const std::string many(1000, 'x');
  const Slice large(many);
  PinnableSlice pinned;
  pinned.PinSelf("pinned");
  const Status good;
  const Status bad = Status::Corruption("a table", "000007.sst: offset 12");
  const Status full = Status::NoSpace("disk");
  const IOStatus io = IOStatus::IOError("read");
  asm volatile("" ::"r"(&tree), "r"(&plain), "r"(&empty), "r"(&large), "r"(&pinned), "r"(&good),
               "r"(&bad), "r"(&full), "r"(&io)
               : "memory");
  asm volatile("int3");  // The debugger takes this signal.
}

int Main() {
  Options options;
  options.create_if_missing = true;
  const std::unique_ptr<Env> env = NewCompositeEnv(std::make_shared<MemFileSystem>());
  options.env = env.get();
  std::unique_ptr<DB> db;
  if (!DB::Open(options, "/db", &db).ok()) return 1;
  if (!db->Put(WriteOptions(), "k", "v").ok() || !db->Flush(FlushOptions()).ok()) return 1;
  auto* const host = dynamic_cast<CopyHost*>(db->GetRootDB());
  return host->WithEngine([](Engine* engine) {
               for (const auto& [id, family] : engine->state.families.all()) {
                 Stop(*family->current());
               }
               return Status::OK();
             }).ok()
             ? 0
             : 1;
}

}  // namespace
}  // namespace varve::testing

int main() {
  return varve::testing::Main();
}

// SPDX-License-Identifier: Apache-2.0

// Replays any bytes as a trace. They must be refused or played, and never harm the database beyond
// what writes can do: it closes and opens again.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/trace_reader_writer.h"
#include "varve/trace_record.h"
#include "varve/trace_record_result.h"
#include "varve/utilities/replayer.h"

#include "db/trace/trace_format.h"
#include "tests/fuzz/memory_database.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  std::string record;
  std::string file;
  const auto add = [&](const Status& s) {
    Promise(s.ok(), "a short record can be encoded");
    file += record;
  };
  trace::EncodeBegin(1000, &record);
  file += record;
  add(trace::EncodeWrite(1001, 1,
                         Slice("\x01\x01"
                               "k"
                               "\x01"
                               "v",
                               5),
                         Slice(), &record));
  add(trace::EncodeGet(1002, 0, "k", &record));
  const Slice bound = "z";
  add(trace::EncodeSeek(1003, kTraceIteratorSeek, 0, "k", &bound, &bound, &record));
  add(trace::EncodeSeek(1003, kTraceIteratorSeekForPrev, 0, "k", nullptr, &bound, &record));
  const std::vector<uint32_t> families = {0, 0};
  const std::vector<Slice> keys = {"k", "l"};
  add(trace::EncodeMultiGet(1004, families, keys.data(), &record));
  seeds->push_back(file);
  trace::EncodeEnd(1005, &record);
  seeds->push_back(file + record);
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::MemoryDatabase database;
  database.AddFile("trace", std::string(reinterpret_cast<const char*>(data), size));
  fuzz::Promise(database.Open(fuzz::MemoryDatabase::SmallOptions()).ok(), "a new database opens");
  varve::DB* const db = database.db();
  std::unique_ptr<varve::TraceReader> reader;
  varve::Status s = varve::NewFileTraceReader(db->GetEnv(), varve::EnvOptions(),
                                              db->GetName() + "/trace", &reader);
  fuzz::Promise(s.ok(), "the file opens");
  std::unique_ptr<varve::Replayer> replayer;
  s = db->NewDefaultReplayer({db->DefaultColumnFamily()}, std::move(reader), &replayer);
  fuzz::Promise(s.ok(), "a replayer is made");
  s = replayer->Prepare();
  fuzz::Note(s);
  if (s.ok()) {
    // At this speed no time of a record is worth a wait.
    s = replayer->Replay(varve::ReplayOptions(1, 1e19),
                         [](const varve::Status& each, auto&&) { fuzz::Note(each); });
    fuzz::Note(s);
    fuzz::Promise(s.ok() || s.IsCorruption() || s.IsIncomplete(), "a replay ends by the file");
  }
  replayer.reset();
  database.Close();
  fuzz::Promise(database.Open(fuzz::MemoryDatabase::SmallOptions()).ok(), "the database opens");
  return 0;
}

static const varve::fuzz::Register registered({"trace_file", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 2});

// SPDX-License-Identifier: Apache-2.0

// Goal: directories with blob files move between Varve and RocksDB 7.8.3 in both directions.
// Method: one engine keeps values apart; the other one reads them, with its own options, overwrites
// and compacts them, with and without garbage collection; and the first one reads all of it and
// goes on. Some of the changes are left in the log, which the other engine replays. RocksDB checks
// at each opening that its counts of garbage are possible.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/harness/random.h"
#include "tests/interop/programs.h"
#include "tests/interop/script.h"
#include "tests/interop/work_directory.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

const char* const kOurBlobs = VARVE_DRIVER;
const char* const kTheirBlobs = ROCKSDB_DRIVER;

class BlobInteropTest : public WorkDirectoryTest {
 protected:
  Script Begin(const ReferenceState& state, const std::string& options,
               const std::string& open) const {
    Script script(state);
    script.Line("db create_if_missing=true");
    script.Line("family default write_buffer_size=65536;disable_auto_compactions=true" + options);
    script.Line(open + " " + (work_ / "db").string());
    return script;
  }

  // Writes three tables with old versions of keys; with `leaves_log`, the next opening makes the
  // last one.
  static void Write(Script* script, uint64_t seed, bool leaves_log) {
    Random random(seed);
    for (int table = 0; table < 3; table++) {
      for (int i = 0; i < 100; i++) {
        Change change;
        change.family = "default";
        change.key = "k" + std::to_string(100 + random.Below(150));
        change.kind = random.OneIn(8) ? Change::kDelete : Change::kPut;
        change.value = random.Text(random.OneIn(3) ? random.Below(2000) : random.Below(60));
        script->Do(change);
      }
      if (table < 2 || !leaves_log) script->Line("flush default");
    }
  }

  // Lets the engines write to one directory in turn, with these options; `ours` are for Varve
  // alone.
  void Exchange(const char* first, const std::string& options, const std::string& ours = "") {
    SCOPED_TRACE(std::string(first == kOurBlobs ? "ours first " : "theirs first ") + options +
                 ours);
    fs::remove_all(work_ / "db");
    const char* const second = first == kOurBlobs ? kTheirBlobs : kOurBlobs;
    ReferenceState state = Script({"default"}).state();
    for (int turn = 0; turn < 6; turn++) {
      const char* const engine = turn % 2 == 0 ? first : second;
      SCOPED_TRACE(turn);
      if (turn > 0) {
        Script reader = Begin(state, "", "reader");
        reader.Expect(reader.state());
        reader.Line("close");
        ASSERT_EQ(RunScript(engine, work_.string(), reader.text()), "") << "read-only";
      }
      Script script = Begin(state, options + (engine == kOurBlobs ? ours : ""), "open");
      const bool leaves_log = turn % 3 == 1;
      Write(&script, static_cast<uint64_t>(turn) + 1, leaves_log);
      if (!leaves_log) script.Line("compact default");
      script.Expect(script.state());
      script.Line("checksums");
      script.Line("close");
      ASSERT_EQ(RunScript(engine, work_.string(), script.text()), "");
      state = script.state();
    }
  }
};

const char* const kBlobs = ";enable_blob_files=true;min_blob_size=100";
const char* const kCollected =
    ";enable_blob_garbage_collection=true;blob_garbage_collection_age_cutoff=";

TEST_F(BlobInteropTest, BothWriteInTurn) {
  for (const char* const first : {kOurBlobs, kTheirBlobs}) {
    Exchange(first, kBlobs);
    Exchange(first, std::string(kBlobs) + kCollected + "0.5;blob_file_size=20000");
    Exchange(first, std::string(kBlobs) + kCollected + "1.0;blob_compression_type=kZSTD");
    Exchange(first, std::string(kBlobs) + ";blob_compression_type=kSnappyCompression");
    Exchange(first, std::string(kBlobs) + ";blob_file_starting_level=1");
  }
}

// RocksDB reads files with holes, goes on with them, and forgets that more might be punched.
TEST_F(BlobInteropTest, HolesAreNoDamage) {
  for (const char* const first : {kOurBlobs, kTheirBlobs}) {
    Exchange(first, kBlobs, ";punch_holes_in_blob_files=true");
    Exchange(first, std::string(kBlobs) + kCollected + "0.5;blob_file_size=20000",
             ";punch_holes_in_blob_files=true");
  }
}

TEST_F(BlobInteropTest, ValuesComeBackIntoTables) {
  for (const char* const first : {kOurBlobs, kTheirBlobs}) {
    Exchange(first, kBlobs);
    Exchange(first, std::string(";enable_blob_files=false") + kCollected + "1.0");
  }
}

}  // namespace

}  // namespace varve::testing

// SPDX-License-Identifier: Apache-2.0

// Goal: RocksDB 7.8.3 opens a tree in which a universal merge is half done, reads it, and goes on,
// in the universal and in the leveled style, as Varve does afterwards. Method: Varve stops a
// CompactRange after each number of steps.

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

class SlicesInteropTest : public WorkDirectoryTest {
 protected:
  Script Begin(const ReferenceState& state, const std::string& options) const {
    Script script(state);
    script.Line("db create_if_missing=true");
    script.Line("family default target_file_size_base=2048" + options);
    script.Line("open " + (work_ / "db").string());
    return script;
  }

  // Puts and deletes keys of the whole range, and flushes them.
  static void Write(Script* script, uint64_t seed, int changes) {
    Random random(seed);
    for (int i = 0; i < changes; i++) {
      Change change;
      change.family = "default";
      change.key = "k" + std::to_string(1000 + random.Below(600));
      change.kind = random.OneIn(6) ? Change::kDelete : Change::kPut;
      change.kind = random.OneIn(6) ? Change::kDelete : Change::kPut;
      if (change.kind == Change::kPut) change.value = random.Text(100);
      if (random.OneIn(100)) {
        change.kind = Change::kDeleteRange;
        change.value = change.key + "9";
      }
      script->Do(change);
    }
    script->Line("flush default");
  }

  // Writes a large run, a smaller one above it, and merges them so many steps far.
  ReferenceState MergePartly(int steps) const {
    Script script =
        Begin(Script({"default"}).state(),
              ";compaction_style=kCompactionStyleUniversal;disable_auto_compactions=true");
    Write(&script, 1, 2000);
    script.Line("compact default");
    Write(&script, 2, 150);
    script.Line("levels default 2");
    script.Line("compact-steps default " + std::to_string(steps));
    script.Line("levels default 2");
    script.Expect(script.state());
    script.Line("checksums");
    script.Line("close");
    EXPECT_EQ(RunScript(VARVE_DRIVER, work_.string(), script.text()), "");
    return script.state();
  }
};

TEST_F(SlicesInteropTest, RocksDbGoesOnFromAnyStep) {
  for (int steps = 1; steps < 6; steps++) {
    for (const char* style : {"kCompactionStyleUniversal", "kCompactionStyleLevel"}) {
      SCOPED_TRACE(std::to_string(steps) + " steps, then " + style);
      fs::remove_all(work_ / "db");
      ReferenceState state = MergePartly(steps);
      ASSERT_FALSE(HasFailure());
      EXPECT_EQ(CheckWithTools((work_ / "db").string(), state), "");
      for (const char* engine : {ROCKSDB_DRIVER, VARVE_DRIVER}) {
        const std::string options = std::string(";compaction_style=") + style;
        Script reader = Begin(state, options);
        reader.Expect(state);
        reader.Line("checksums");
        reader.Line("close");
        ASSERT_EQ(RunScript(engine, work_.string(), reader.text()), "") << engine;
        Script script = Begin(state, options);
        Write(&script, 3, 200);
        script.Line("compact default");
        script.Expect(script.state());
        script.Line("close");
        ASSERT_EQ(RunScript(engine, work_.string(), script.text()), "") << engine;
        state = script.state();
      }
    }
  }
}

}  // namespace

}  // namespace varve::testing

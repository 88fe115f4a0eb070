// SPDX-License-Identifier: Apache-2.0

// Goal: entities move between Varve and RocksDB 7.8.3 in both directions, in logs and in tables.
// Method: both engines write entities and plain values to one directory in turn, compact them, and
// read all columns of the other one. There are no merges: RocksDB 7.8.3 has none over entities.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "tests/harness/random.h"
#include "tests/interop/programs.h"
#include "tests/interop/script.h"
#include "tests/interop/work_directory.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

const char* const kByVarve = VARVE_DRIVER;
const char* const kByRocksDB = ROCKSDB_DRIVER;

class EntityInteropTest : public WorkDirectoryTest {
 protected:
  Script Begin(const ReferenceState& state, const std::string& options,
               const std::string& open) const {
    Script script(state);
    script.Line("db create_if_missing=true;create_missing_column_families=true");
    for (const auto& [family, keys] : state.families) {
      script.Line("family " + family + " disable_auto_compactions=true" + options);
    }
    script.Line(open + " " + (work_ / "db").string());
    return script;
  }

  // Writes a round of changes; entities_ keeps which keys are entities.
  void Write(Script* script, const std::string& family, uint64_t seed) {
    Random random(seed);
    std::set<std::string>& entities = entities_[family];
    for (int i = 0; i < 150; i++) {
      Change change;
      change.family = family;
      change.key = "k" + std::to_string(100 + random.Below(100));
      change.kind = random.OneIn(6) ? Change::kDelete : Change::kPut;
      if (change.kind == Change::kPut) change.value = random.Text(random.Below(300));
      entities.erase(change.key);
      if (change.kind == Change::kPut && random.OneIn(2)) {
        script->DoEntity(change);
        entities.insert(change.key);
      } else {
        script->Do(change);
      }
      if (i == 90) script->Line("flush " + family);
    }
  }

  void Exchange(const char* first, const std::string& options) {
    SCOPED_TRACE(std::string(first == kByVarve ? "ours first " : "theirs first ") + options);
    fs::remove_all(work_ / "db");
    entities_.clear();
    ReferenceState state = Script({"default", "one"}).state();
    for (int turn = 0; turn < 6; turn++) {
      SCOPED_TRACE(turn);
      const bool ours = (turn % 2 == 0) == (first == kByVarve);
      const char* const engine = ours ? kByVarve : kByRocksDB;
      if (turn > 0) {
        // Reads tables, and the log that the other engine has left.
        Script reader = Begin(state, "", "reader");
        Expect(&reader);
        reader.Line("close");
        ASSERT_EQ(RunScript(engine, work_.string(), reader.text()), "") << "read-only";
      }
      Script script = Begin(state, options, "open");
      Write(&script, "default", static_cast<uint64_t>(turn) + 1);
      Write(&script, "one", static_cast<uint64_t>(turn) + 100);
      if (turn % 3 == 2) script.Line("compact default");
      Expect(&script);
      script.Line("checksums");
      script.Line("close");
      ASSERT_EQ(RunScript(engine, work_.string(), script.text()), "");
      state = script.state();
    }
  }

  void Expect(Script* script) const {
    for (const auto& [family, entities] : entities_) {
      for (const std::string& key : entities) script->Line("columns " + family + " " + ToHex(key));
    }
    script->Expect(script->state());
  }

  std::map<std::string, std::set<std::string>> entities_;
};

// Not with blob files: of values there, RocksDB 7.8.3 shows wrong columns, also of its own.
TEST_F(EntityInteropTest, BothWriteInTurn) {
  for (const char* const first : {kByVarve, kByRocksDB}) {
    Exchange(first, "");
    Exchange(first, ";compaction_style=kCompactionStyleUniversal");
  }
}

}  // namespace

}  // namespace varve::testing

// SPDX-License-Identifier: Apache-2.0

// Goal: directories of PlainTables move between Varve and RocksDB 7.8.3 in both directions. Method:
// one engine writes tables of each form; the other one reads them, with the same options and, if it
// is Varve, with the defaults; goes on writing; and the first one reads all of it.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tests/harness/random.h"
#include "tests/interop/programs.h"
#include "tests/interop/script.h"
#include "tests/interop/work_directory.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

const char* const kOurPlain = VARVE_DRIVER;
const char* const kTheirPlain = ROCKSDB_DRIVER;

// RocksDB asks for the prefix of each key, which shorter keys have not, and in some forms for keys
// of five bytes.
const std::set<std::string> kAbsent = {"k0000", "k9999", "zzzzz"};

class PlainInteropTest : public WorkDirectoryTest {
 protected:
  // `form` is that of the driver's command; empty: the engine's default tables.
  Script Begin(const ReferenceState& state, const std::string& form,
               const std::string& open) const {
    Script script(state);
    script.Line("db create_if_missing=true");
    script.Line("family default write_buffer_size=65536");
    if (!form.empty()) script.Line("plain " + form);
    script.Line(open + " " + (work_ / "db").string());
    return script;
  }

  // Writes three tables with old versions of keys.
  static void Write(Script* script, uint64_t seed) {
    Random random(seed);
    for (int table = 0; table < 3; table++) {
      for (int i = 0; i < 200; i++) {
        const std::string key = "k" + std::to_string(1000 + random.Below(300));
        Change change;
        change.family = "default";
        change.key = key;
        change.kind = random.OneIn(8) ? Change::kDelete : Change::kPut;
        change.value = random.Text(random.Below(60));
        script->Do(change);
      }
      script->Line("flush default");
    }
  }

  std::string Run(const char* driver, const Script& script) const {
    return RunScript(driver, work_.string(), script.text());
  }

  void Exchange(const char* writer, const char* reader, const std::string& form) {
    SCOPED_TRACE(std::string(writer == kOurPlain ? "ours " : "theirs ") + form);
    fs::remove_all(work_ / "db");
    Script first = Begin(Script({"default"}).state(), form, "open");
    Write(&first, 1);
    first.Expect(first.state(), kAbsent);
    first.Line("close");
    ASSERT_EQ(Run(writer, first), "");

    Script second = Begin(first.state(), form, "reader");
    second.Expect(second.state(), kAbsent);
    second.Line("close");
    ASSERT_EQ(Run(reader, second), "") << "read-only";

    Script third = Begin(first.state(), form, "open");
    Write(&third, 2);
    third.Line("compact default");
    third.Expect(third.state(), kAbsent);
    third.Line("close");
    ASSERT_EQ(Run(reader, third), "") << "written on";

    Script fourth = Begin(third.state(), form, "open");
    fourth.Expect(fourth.state(), kAbsent);
    fourth.Line("close");
    ASSERT_EQ(Run(writer, fourth), "") << "read again";

    // Varve reads both ways, without these options, and converts the tables.
    Script last = Begin(third.state(), "", "open");
    last.Expect(last.state(), kAbsent);
    last.Line("checksums");
    last.Line("compact default");
    last.Line("check");
    last.Line("close");
    ASSERT_EQ(Run(kOurPlain, last), "") << "converted";
    Script converted = Begin(third.state(), "", "open");
    converted.Expect(converted.state(), kAbsent);
    converted.Line("close");
    EXPECT_EQ(Run(kTheirPlain, converted), "") << "converted";
  }
};

// Encoding, length of keys, stored index, hash ratio, length of prefixes.
const char* const kForms[] = {"0,0,0,0.75,2", "0,5,0,0.75,3", "0,0,1,0.75,2", "0,0,0,0,0",
                              "0,0,1,0,0",    "1,0,0,0.75,3", "1,5,0,0.75,2", "1,0,1,0.75,4"};

TEST_F(PlainInteropTest, WeReadTheirs) {
  for (const char* const form : kForms) Exchange(kTheirPlain, kOurPlain, form);
}

TEST_F(PlainInteropTest, TheyReadOurs) {
  for (const char* const form : kForms) Exchange(kOurPlain, kTheirPlain, form);
}

}  // namespace

}  // namespace varve::testing

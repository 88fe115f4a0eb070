// SPDX-License-Identifier: Apache-2.0
// Goal: whatever the public headers offer is one of three: used, refused by name, or marked as
// Advisory; nothing promises and does nothing. Method: the fields of option structs, DB's methods
// and the exported functions are read from the headers themselves.
//
// What the header says of a field decides: "Refused unless ..." or "Refused: Method is
// NotSupported", "Advisory", or neither. A field with a row in the options' schema has the same
// said there; one that is used is read by some source of the library; one that is refused is set,
// and NotSupported names it.
//
// Each method and function has its line in public_methods.txt beside this file:
//   Class::Method | works | path                           the file defines it
//   Class::Method | refused | path                         it answers NotSupported, and says so

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "varve/options.h"
#include "varve/table.h"

#include "tests/harness/source_root.h"
#include "tests/tidy/public_headers.h"
#include "util/options/option_schema.h"
#include "util/options/validate_options.h"

namespace varve::tidy {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = testing::SourceRoot();

Lines ReadLines(const fs::path& path) {
  Lines lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

struct Row {
  std::string state;
  std::string evidence;
};

// Returns the rows by name. A duplicate name fails the test.
std::map<std::string, Row> ReadRows(const char* file) {
  std::map<std::string, Row> rows;
  static const std::regex form(R"((\S+) \| (\w+)(?: \| (.+))?)");
  for (const std::string& line : ReadLines(kRoot / "tests/tidy" / file)) {
    std::smatch parts;
    if (line.empty() || line.starts_with("#")) continue;
    if (!std::regex_match(line, parts, form)) {
      ADD_FAILURE() << file << ": " << line;
      continue;
    }
    EXPECT_TRUE(rows.emplace(parts[1], Row{parts[2], parts[3]}).second) << line;
  }
  return rows;
}

const std::map<std::string, Row>& MethodRows() {
  static const auto rows = ReadRows("public_methods.txt");
  return rows;
}

std::vector<std::pair<std::string, Lines>> Headers() {
  std::vector<std::pair<std::string, Lines>> headers;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "include/varve")) {
    const std::string path = entry.path().lexically_relative(kRoot).generic_string();
    if (path.ends_with(".h") && !path.ends_with("/c.h")) {
      headers.emplace_back(path, ReadLines(entry.path()));
    }
  }
  return headers;
}

std::map<std::string, PublicField> Fields() {
  std::map<std::string, PublicField> fields;
  for (const auto& [path, lines] : Headers()) {
    for (const PublicField& field : OptionFields(lines)) fields.emplace(field.Full(), field);
  }
  return fields;
}

bool Says(const std::string& comment, const char* word) {
  return comment.find(word) != std::string::npos;
}

// True for sources that use options, rather than copy, print, parse or preset them.
bool ReadsOptions(const std::string& path) {
  // A base class that users derive from takes what it needs in its constructor.
  if (path == "include/varve/file_system.h") return true;
  return (path.ends_with(".cc") || path.ends_with(".h")) && !path.starts_with("db/api/c/") &&
         !path.ends_with("_option_schema.cc") && path != "db/api/option_presets.cc" &&
         path != "util/options/options.cc";
}

bool IsOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The word that ends before `at`, and the parentheses of a call after it.
std::string WordBefore(const std::string& code, size_t at) {
  size_t begin = at;
  if (code.substr(0, at).ends_with("()")) begin -= 2;
  while (begin > 0 && IsOfWord(code[begin - 1])) --begin;
  return code.substr(begin, at - begin);
}

// Members with a name of this length are hardly of anything but options.
constexpr size_t kTellingLength = 14;

// Returns true for names that options have where they are used.
bool IsNameOfOptions(const std::string& word) {
  static constexpr std::array<const char*, 11> kNames = {"option", "opts",  "cf",     "db",
                                                         "table",  "usage", "config", "second",
                                                         "call",   "tiers", "repair"};
  return std::ranges::any_of(kNames, [&](const char* name) { return Says(word, name); });
}

// The members of options that a line of code has as values: not as what is assigned to.
void AddMembersRead(const std::string& code, std::set<std::string>* members) {
  for (size_t at = 1; at + 2 < code.size(); ++at) {
    const bool arrow = code[at] == '-' && code[at + 1] == '>';
    if (code[at] != '.' && !arrow) continue;
    const size_t begin = at + (arrow ? 2 : 1);
    size_t end = begin;
    while (end < code.size() && IsOfWord(code[end])) ++end;
    if (end - begin < kTellingLength && !IsNameOfOptions(WordBefore(code, at))) continue;
    const std::string rest = code.substr(std::min(code.find_first_not_of(' ', end), code.size()));
    if (!rest.starts_with("=") || rest.starts_with("==")) {
      members->insert(code.substr(begin, end - begin));
    }
  }
}

std::set<std::string> MembersReadIn(const std::string& path) {
  std::set<std::string> members;
  for (const std::string& line : ReadLines(kRoot / path)) {
    AddMembersRead(line.substr(0, line.find("//")), &members);
  }
  return members;
}

const char kCopiesForFileSystems[] = "util/env/env_options.cc";

// Returns all members of options that the library reads.
const std::set<std::string>& MembersRead() {
  static const std::set<std::string> all = [] {
    std::set<std::string> found = MembersReadIn("include/varve/file_system.h");
    for (const char* room : {"db", "table", "memtable", "util"}) {
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / room)) {
        const std::string path = entry.path().lexically_relative(kRoot).generic_string();
        if (ReadsOptions(path) && path != kCopiesForFileSystems) found.merge(MembersReadIn(path));
      }
    }
    return found;
  }();
  return all;
}

// Copied for file systems, which read the copy.
bool IsReadAsCopy(const std::string& name) {
  static const std::regex copied("\\s*:? ?(\\w+)\\(\\w+\\.(\\w+)\\),?(\\s*\\{.*)?");
  for (const std::string& line : ReadLines(kRoot / kCopiesForFileSystems)) {
    std::smatch parts;
    if (std::regex_match(line, parts, copied) && parts[2] == name) {
      return MembersRead().contains(parts[1]);
    }
  }
  return false;
}

bool IsRead(const std::string& name) {
  return MembersRead().contains(name) || IsReadAsCopy(name);
}

// ---- The schema ----

const std::vector<const OptionTable*>& Tables() {
  static const std::vector<const OptionTable*> tables = {&DbOptionTable(),
                                                         &CfOptionTable(),
                                                         &BlockBasedTableOptionTable(),
                                                         &PlainTableOptionTable(),
                                                         &CompressionOptionTable(),
                                                         &UniversalCompactionOptionTable(),
                                                         &FifoCompactionOptionTable(),
                                                         &MetadataCacheOptionTable()};
  return tables;
}

// Returns nullptr if the field has no row.
const OptionRow* RowOf(const PublicField& field) {
  const bool advanced = field.owner == "AdvancedColumnFamilyOptions";
  for (const OptionTable* table : Tables()) {
    if (table->struct_name() == (advanced ? "ColumnFamilyOptions" : field.owner)) {
      return table->Find(field.name);
    }
  }
  return nullptr;
}

// Returns what the header promises.
OptionSupport Promised(const PublicField& field) {
  if (Says(field.comment, "Advisory")) return OptionSupport::kAdvisory;
  if (Says(field.comment, "Refused unless") || field.comment.starts_with("Refused: ")) {
    return OptionSupport::kDefaultOnly;
  }
  return OptionSupport::kHonoured;
}

TEST(PublicSurfaceTest, HeadersAreUnderstood) {
  const Lines header = {"// Refused: none of it.",
                        "struct FirstOptions {",
                        "  int one = 1;",
                        "};",
                        "class Outer {",
                        " public:",
                        "  struct InnerOptions {",
                        "    explicit InnerOptions(int a) : two(a) {}",
                        "",
                        "    // Above.",
                        "    // Advisory.",
                        "    int two = 0;",
                        "    std::function<bool(int)> three;  // Behind.",
                        "    std::chrono::microseconds four{0};",
                        "",
                        "    enum Kind : char {",
                        "      kA,",
                        "    } five = kA;",
                        "    std::vector<int> six =",
                        "        std::vector<int>(7, 1);",
                        "    bool Seven() const { return true; }",
                        "  };",
                        "",
                        "  // NotSupported: later.",
                        "  virtual Status Later(int /*n*/) {",
                        "    return Status::NotSupported(\"Later\");",
                        "  }",
                        "  static int Now(std::string text = std::string());",
                        " private:",
                        "  void Hidden();",
                        "};"};
  std::string fields;
  for (const PublicField& f : OptionFields(header)) fields += f.Full() + "=" + f.comment + ";";
  EXPECT_EQ(fields,
            "FirstOptions::one=Refused: none of it.  ;"
            "Outer::InnerOptions::two=Above. Advisory.  ;"
            "Outer::InnerOptions::three=Above. Advisory. Behind. ;"
            "Outer::InnerOptions::four=Above. Advisory.  ;"
            "Outer::InnerOptions::five= ;"
            "Outer::InnerOptions::six=  ;");
  std::string methods;
  for (const PublicMethod& m : MethodsOf("Outer", header)) {
    methods += m.name + (m.is_virtual ? "!" : "") + (Refuses(m.text, m.name) ? "-" : "") + ";";
  }
  EXPECT_EQ(methods, "Later!-;Now;");
}

TEST(PublicSurfaceTest, UsesAreUnderstood) {
  std::set<std::string> members;
  AddMembersRead("if (options.one && db_options()->two == 3 && call.options.three)", &members);
  AddMembersRead("cf.four = key.five + table->six(); options_.seven", &members);
  AddMembersRead("if (state.eight_bytes_per_key || state.nine)", &members);
  EXPECT_EQ(members, std::set<std::string>({"options", "one", "two", "three", "six", "seven",
                                            "eight_bytes_per_key"}));
}

TEST(PublicSurfaceTest, OptionsAreWhatTheirHeadersSay) {
  const auto fields = Fields();
  EXPECT_GT(fields.size(), 300u);
  std::map<OptionSupport, int> seen;
  for (const auto& [name, field] : fields) {
    SCOPED_TRACE(name + ": " + field.comment);
    const OptionRow* const row = RowOf(field);
    const OptionSupport promised = Promised(field);
    ++seen[promised];
    EXPECT_TRUE(row == nullptr || row->support == promised) << "the schema says otherwise";
    EXPECT_TRUE(promised != OptionSupport::kHonoured || IsRead(field.name)) << "nobody reads it";
    if (promised != OptionSupport::kDefaultOnly || row != nullptr) continue;
    std::smatch method;
    static const std::regex form("Refused: (\\w+) is NotSupported.*");
    if (std::regex_match(field.comment, method, form)) {
      ASSERT_TRUE(MethodRows().contains("DB::" + method[1].str()));
      EXPECT_EQ(MethodRows().at("DB::" + method[1].str()).state, "refused");
    } else {
      EXPECT_TRUE(IsRead(field.name)) << "nobody can refuse it";
    }
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST(PublicSurfaceTest, EveryRowIsAField) {
  const auto fields = Fields();
  for (const OptionTable* table : Tables()) {
    for (const OptionRow& row : table->rows()) {
      const std::string name = "::" + std::string(row.name);
      EXPECT_TRUE(fields.contains(table->struct_name() + name) ||
                  fields.contains("AdvancedColumnFamilyOptions" + name))
          << table->struct_name() << name;
    }
  }
}

// ---- Refused features

struct AllOptions {
  DBOptions db;
  ColumnFamilyOptions cf;
  BlockBasedTableOptions table;
};

// A pointer that must not be followed.
template <typename T>
std::shared_ptr<T> Something() {
  static int thing = 0;
  return std::shared_ptr<T>(std::shared_ptr<int>(), reinterpret_cast<T*>(&thing));
}

// Values that are not the default, of fields that are neither flags nor numbers.
const std::map<std::string, std::function<void(AllOptions&)>> kRefusedObjects = {
    {"inplace_callback",
     [](AllOptions& o) {
       o.cf.inplace_callback = [](char*, uint32_t*, Slice, std::string*) {
         return UpdateStatus::UPDATED;
       };
     }},
    {"row_cache", [](AllOptions& o) { o.db.row_cache = Something<Cache>(); }},
    {"persistent_cache",
     [](AllOptions& o) { o.table.persistent_cache = Something<PersistentCache>(); }},
    {"user_defined_index_factory",
     [](AllOptions& o) {
       o.table.user_defined_index_factory = Something<UserDefinedIndexFactory>();
     }},
};

// Gives the field another value than its default.
void SetOther(const OptionRow& row, void* object, AllOptions* options) {
  const std::string name(row.name);
  if (kRefusedObjects.contains(name)) return kRefusedObjects.at(name)(*options);
  void* const field = row.field(object);
  const std::string value = row.type().print(OptionPrintStyle(), field);
  const std::string other = value == "true"    ? "false"
                            : value == "false" ? "true"
                                               : std::to_string(std::stoll(value) + 1);
  ASSERT_TRUE(row.type().parse(ConfigOptions(), other, field).ok()) << name << "=" << other;
}

TEST(PublicSurfaceTest, WhatIsRefusedIsNamed) {
  size_t refused = 0;
  for (const OptionTable* table : Tables()) {
    for (const OptionRow& row : table->rows()) {
      if (row.support != OptionSupport::kDefaultOnly) continue;
      AllOptions options;
      void* const object = table == &DbOptionTable()   ? static_cast<void*>(&options.db)
                           : table == &CfOptionTable() ? static_cast<void*>(&options.cf)
                                                       : &options.table;
      ASSERT_TRUE(object != &options.table || table == &BlockBasedTableOptionTable());
      SetOther(row, object, &options);
      options.cf.table_factory.reset(NewBlockBasedTableFactory(options.table));
      const Status s = ValidateOptions(options.db, options.cf);
      EXPECT_TRUE(s.IsNotSupported()) << row.name << ": " << s.ToString();
      EXPECT_NE(s.ToString().find("::" + std::string(row.name)), std::string::npos) << s.ToString();
      ++refused;
    }
  }
  EXPECT_GE(refused, kRefusedObjects.size());
}

// ---- Methods and functions

// Returns all definitions of the name in a source, each on one line, with its body.
std::vector<std::string> Definitions(const std::string& path, const std::string& name) {
  std::vector<std::string> found;
  const bool header = path.ends_with(".h");
  const std::regex begins("(^|.*[ :*&])" + name + "\\(.*");
  const Lines lines = ReadLines(kRoot / path);
  for (size_t i = 0; i < lines.size(); i++) {
    if (lines[i].empty() || (!header && lines[i].starts_with(" "))) continue;
    if (!std::regex_match(lines[i], begins)) continue;
    std::string text;
    for (size_t n = i; n < lines.size() && !lines[n].starts_with("}"); n++) {
      text += lines[n].substr(0, lines[n].find("//")) + " ";
      if (header && (lines[n].ends_with(";") || lines[n].ends_with("}"))) break;
    }
    found.push_back(text);
  }
  return found;
}

void CheckMethods(const std::string& owner, const std::vector<PublicMethod>& methods) {
  std::map<std::string, std::vector<PublicMethod>> by_name;
  for (const PublicMethod& method : methods) by_name[method.name].push_back(method);
  for (const auto& [name, overloads] : by_name) {
    const std::string full = owner + name;
    SCOPED_TRACE(full);
    const auto row = MethodRows().find(full);
    if (row == MethodRows().end()) {
      ADD_FAILURE() << full << " is not in public_methods.txt";
      continue;
    }
    const auto definitions = Definitions(row->second.evidence, name);
    EXPECT_FALSE(definitions.empty()) << "no definition in " << row->second.evidence;
    const bool refused = row->second.state == "refused";
    EXPECT_TRUE(refused || row->second.state == "works") << row->second.state;
    bool any = false;
    for (const std::string& text : definitions) any = any || Refuses(text, name);
    EXPECT_EQ(any, refused);
    const bool says = std::ranges::any_of(overloads, [](const PublicMethod& m) {
      return Says(m.comment, "NotSupported: ") || Says(m.comment, "NotSupported, as ");
    });
    EXPECT_EQ(says, refused) << "what the header says";
  }
}

std::map<std::string, std::vector<PublicMethod>> Offered() {
  std::map<std::string, std::vector<PublicMethod>> offered;
  for (const auto& [path, lines] : Headers()) {
    for (PublicMethod& method : MethodsOf("DB", lines)) offered["DB::"].push_back(method);
    for (PublicMethod& method : ExportedFunctions(lines)) offered[""].push_back(method);
  }
  return offered;
}

TEST(PublicSurfaceTest, MethodsAreWhatTheirLinesSay) {
  std::set<std::string> known;
  for (const auto& [owner, methods] : Offered()) {
    CheckMethods(owner, methods);
    for (const PublicMethod& method : methods) known.insert(owner + method.name);
  }
  EXPECT_GT(known.size(), 120u);
  for (const auto& [name, row] : MethodRows()) {
    EXPECT_TRUE(known.contains(name)) << name << " is in no header";
  }
}

// ---- The C API ----

std::string CHeaders() {
  std::string text;
  for (const auto& entry : fs::directory_iterator(kRoot / "include/varve/c")) {
    if (entry.path().extension() != ".h") continue;
    for (const std::string& line : ReadLines(entry.path())) text += line + "\n";
  }
  return text;
}

// RocksDB's options that C names otherwise, and those that it cannot name: most are objects of C++.
const std::map<std::string, std::string>& NamesInC() {
  static const std::map<std::string, std::string> names = {
      {"blob_garbage_collection_age_cutoff", "options_set_blob_gc_age_cutoff"},
      {"blob_garbage_collection_force_threshold", "options_set_blob_gc_force_threshold"},
      {"bottommost_compression_opts", "options_set_bottommost_compression_options"},
      {"cache_usage_options", ""},
      {"compaction_options_fifo", "options_set_fifo_compaction_options"},
      {"compaction_options_universal", "options_set_universal_compaction_options"},
      {"compaction_readahead_size", "options_compaction_readahead_size"},
      {"compaction_thread_limiter", ""},
      {"compression_opts", "options_set_compression_options"},
      {"enable_blob_garbage_collection", "options_set_enable_blob_gc"},
      {"fail_if_options_file_error", ""},
      {"flush_block_policy_factory", ""},
      {"inplace_callback", ""},
      {"listeners", "options_add_eventlistener"},
      {"memtable_factory", "options_set_memtable_vector_rep"},
      {"metadata_cache_options", "block_based_options_set_top_level_index_pinning_tier"},
      {"persistent_cache", ""},
      {"rate_limiter", "options_set_ratelimiter"},
      {"statistics", "options_enable_statistics"},
      {"table_factory", "options_set_block_based_table_factory"},
      {"table_properties_collector_factories", "options_add_table_properties_collector_factory"},
      {"user_defined_index_factory",
       "block_based_options_set_user_defined_index_factory_from_string"},
  };
  return names;
}

TEST(PublicSurfaceTest, EveryOptionOfRocksDbCanBeSetFromC) {
  const std::string headers = CHeaders();
  const auto declared = [&](const std::string& name) {
    return headers.find(" rocksdb_" + name + "(") != std::string::npos ||
           headers.find("\nrocksdb_" + name + "(") != std::string::npos;
  };
  const std::pair<const OptionTable*, std::string> tables[] = {
      {&DbOptionTable(), "options_"},
      {&CfOptionTable(), "options_"},
      {&BlockBasedTableOptionTable(), "block_based_options_"}};
  size_t plain = 0;
  for (const auto& [table, prefix] : tables) {
    for (const OptionRow& row : table->rows()) {
      // Varve's own options have a text and are in no OPTIONS file: rocksdb_get_options_from_string
      // sets them.
      if (row.HasText() && row.file == OptionFileForm::kNone) continue;
      const std::string name(row.name);
      const auto other = NamesInC().find(name);
      if (other == NamesInC().end()) {
        EXPECT_TRUE(declared(prefix + "set_" + name)) << name << " has no setter";
        if (row.type().number != nullptr) {
          EXPECT_TRUE(declared(prefix + "get_" + name)) << name << " has no getter";
        }
        ++plain;
      } else if (!other->second.empty()) {
        EXPECT_TRUE(declared(other->second)) << name << " has no setter " << other->second;
      }
    }
  }
  EXPECT_GT(plain, 150u);
}

}  // namespace
}  // namespace varve::tidy

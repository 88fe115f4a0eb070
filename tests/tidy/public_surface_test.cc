// SPDX-License-Identifier: Apache-2.0
// Goal: whatever the public headers offer is one of three: used, refused by name, or marked as
// Advisory; nothing promises and does nothing. Method: the fields of option structs, DB's methods
// and the exported functions are read from the headers themselves, and each must have its line in
// public_options.txt or public_methods.txt beside this file:
//
//   Struct::field | used | db/room/file.cc: expression     that line of the library reads the field
//   Struct::field | refused                                the test sets it: NotSupported names it
//   Struct::field | refused | DB::Method                   it belongs to a call that is refused
//   Struct::field | marked                                 the header's comment says "Advisory"
//   Class::Method | works | path                           the file defines it
//   Class::Method | refused | path                         it answers NotSupported, and says so
//
// What a line claims is held against the header's words, the sources and the options' schema.

#include <gtest/gtest.h>

#include <algorithm>
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

#include "tests/tidy/public_headers.h"
#include "util/options/option_schema.h"
#include "util/options/validate_options.h"

namespace varve::tidy {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = VARVE_SOURCE_DIR;

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

// By name. A name that comes twice fails the test.
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

const std::map<std::string, Row>& OptionRows() {
  static const auto rows = ReadRows("public_options.txt");
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

// Not where options are copied, printed, parsed or preset.
bool ReadsOptions(const std::string& path) {
  const bool library = path.starts_with("db/") || path.starts_with("table/") ||
                       path.starts_with("memtable/") || path.starts_with("util/");
  // A base class that users derive from takes what it needs in its constructor.
  if (path == "include/varve/file_system.h") return true;
  return library && !path.starts_with("db/api/c/") && !path.ends_with("_option_schema.cc") &&
         path != "db/api/option_presets.cc" && path != "util/options/options.cc";
}

// Whether some line of the file has the expression as a value: in no comment, not as a part of a
// longer name, and not as what is assigned to.
bool HasValue(const std::string& path, const std::string& expression) {
  for (const std::string& line : ReadLines(kRoot / path)) {
    const std::string code = line.substr(0, line.find("//"));
    for (size_t at = code.find(expression); at != std::string::npos;
         at = code.find(expression, at + 1)) {
      std::string rest = code.substr(at + expression.size());
      if (!rest.empty() && (std::isalnum(static_cast<unsigned char>(rest[0])) || rest[0] == '_')) {
        continue;
      }
      rest.erase(0, rest.find_first_not_of(' '));
      if (!rest.starts_with("=") || rest.starts_with("==")) return true;
    }
  }
  return false;
}

// "" or why the line does not show that the field is read.
std::string FaultOfUse(const PublicField& field, const std::string& evidence) {
  const size_t colon = evidence.find(": ");
  if (colon == std::string::npos) return "wants a file and an expression";
  const std::string path = evidence.substr(0, colon);
  const std::string expression = evidence.substr(colon + 2);
  if (!ReadsOptions(path)) return path + " is not a file that uses options";
  const bool names_it = expression.ends_with("." + field.name) ||
                        expression.ends_with(">" + field.name) ||
                        expression.ends_with("::" + field.name);
  if (!names_it) return expression + " does not name the field";
  if (!HasValue(path, expression)) return path + " does not use " + expression;
  if (path != "util/env/env_options.cc") return "";
  // There it is copied for file systems: they have to use the copy.
  const std::regex copied("\\s*:? ?(\\w+)\\(" + expression + "\\),?(\\s*\\{.*)?");
  for (const std::string& line : ReadLines(kRoot / path)) {
    std::smatch parts;
    if (!std::regex_match(line, parts, copied)) continue;
    const auto copy = OptionRows().find("EnvOptions::" + parts[1].str());
    if (copy != OptionRows().end() && copy->second.state == "used") return "";
  }
  return "the copy is not used";
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

TEST(PublicSurfaceTest, EveryOptionHasItsLine) {
  const auto fields = Fields();
  EXPECT_GT(fields.size(), 300u);
  for (const auto& [name, field] : fields) {
    EXPECT_TRUE(OptionRows().contains(name)) << name << " is not in public_options.txt";
  }
  for (const auto& [name, row] : OptionRows()) {
    EXPECT_TRUE(fields.contains(name)) << name << " is in no header";
  }
}

TEST(PublicSurfaceTest, OptionsAreWhatTheirLinesSay) {
  std::set<std::string> states;
  for (const auto& [name, field] : Fields()) {
    SCOPED_TRACE(name + ": " + field.comment);
    if (!OptionRows().contains(name)) continue;  // told above
    const Row& row = OptionRows().at(name);
    states.insert(row.state);
    EXPECT_EQ(Says(field.comment, "Advisory"), row.state == "marked");
    if (row.state == "used") {
      EXPECT_FALSE(Says(field.comment, "Refused unless"));
      EXPECT_EQ(FaultOfUse(field, row.evidence), "");
    } else if (row.state == "refused") {
      EXPECT_TRUE(Says(field.comment, "Refused unless") || field.comment.starts_with("Refused: "));
      if (row.evidence.starts_with("DB::")) {
        ASSERT_TRUE(MethodRows().contains(row.evidence));
        EXPECT_EQ(MethodRows().at(row.evidence).state, "refused");
      } else if (!row.evidence.empty()) {
        EXPECT_EQ(FaultOfUse(field, row.evidence), "");
      }
    } else {
      EXPECT_EQ(row.state, "marked");
    }
  }
  EXPECT_EQ(states, std::set<std::string>({"marked", "refused", "used"}));
}

// ---- The schema

TEST(PublicSurfaceTest, TheSchemaAgrees) {
  const std::map<OptionSupport, std::string> kStates = {{OptionSupport::kHonoured, "used"},
                                                        {OptionSupport::kAdvisory, "marked"},
                                                        {OptionSupport::kDefaultOnly, "refused"}};
  for (const OptionTable* table :
       {&DbOptionTable(), &CfOptionTable(), &BlockBasedTableOptionTable(),
        &CompressionOptionTable(), &UniversalCompactionOptionTable(), &FifoCompactionOptionTable(),
        &MetadataCacheOptionTable()}) {
    for (const OptionRow& option : table->rows()) {
      const std::string field(option.name);
      auto row = OptionRows().find(std::string(table->struct_name()) + "::" + field);
      if (row == OptionRows().end()) {
        row = OptionRows().find("AdvancedColumnFamilyOptions::" + field);
      }
      ASSERT_TRUE(row != OptionRows().end()) << table->struct_name() << "::" << field;
      EXPECT_EQ(row->second.state, kStates.at(option.support))
          << table->struct_name() << "::" << field;
    }
  }
}

// ---- What is refused

struct AllOptions {
  DBOptions db;
  ColumnFamilyOptions cf;
  BlockBasedTableOptions table;
};

// A pointer that nobody may follow.
template <typename T>
std::shared_ptr<T> Something() {
  static int thing = 0;
  return std::shared_ptr<T>(std::shared_ptr<int>(), reinterpret_cast<T*>(&thing));
}

// One value each that is not the default.
const std::map<std::string, std::function<void(AllOptions&)>> kRefused = {
    {"DBOptions::WAL_size_limit_MB", [](AllOptions& o) { o.db.WAL_size_limit_MB = 1; }},
    {"DBOptions::WAL_ttl_seconds", [](AllOptions& o) { o.db.WAL_ttl_seconds = 1; }},
    {"DBOptions::allow_2pc", [](AllOptions& o) { o.db.allow_2pc = true; }},
    {"DBOptions::allow_ingest_behind", [](AllOptions& o) { o.db.allow_ingest_behind = true; }},
    {"DBOptions::allow_mmap_writes", [](AllOptions& o) { o.db.allow_mmap_writes = true; }},
    {"DBOptions::best_efforts_recovery", [](AllOptions& o) { o.db.best_efforts_recovery = true; }},
    {"DBOptions::db_paths", [](AllOptions& o) { o.db.db_paths.emplace_back("/p", 1); }},
    {"DBOptions::enable_thread_tracking",
     [](AllOptions& o) { o.db.enable_thread_tracking = true; }},
    {"DBOptions::is_fd_close_on_exec", [](AllOptions& o) { o.db.is_fd_close_on_exec = false; }},
    {"DBOptions::persist_stats_to_disk", [](AllOptions& o) { o.db.persist_stats_to_disk = true; }},
    {"DBOptions::row_cache", [](AllOptions& o) { o.db.row_cache = Something<Cache>(); }},
    {"DBOptions::track_and_verify_wals_in_manifest",
     [](AllOptions& o) { o.db.track_and_verify_wals_in_manifest = true; }},
    {"ColumnFamilyOptions::cf_paths", [](AllOptions& o) { o.cf.cf_paths.emplace_back("/p", 1); }},
    {"AdvancedColumnFamilyOptions::compaction_style",
     [](AllOptions& o) { o.cf.compaction_style = kCompactionStyleUniversal; }},
    {"AdvancedColumnFamilyOptions::enable_blob_files",
     [](AllOptions& o) { o.cf.enable_blob_files = true; }},
    {"AdvancedColumnFamilyOptions::inplace_update_support",
     [](AllOptions& o) { o.cf.inplace_update_support = true; }},
    {"AdvancedColumnFamilyOptions::memtable_protection_bytes_per_key",
     [](AllOptions& o) { o.cf.memtable_protection_bytes_per_key = 8; }},
    {"AdvancedColumnFamilyOptions::sample_for_compression",
     [](AllOptions& o) { o.cf.sample_for_compression = 1; }},
    {"BlockBasedTableOptions::fail_if_no_udi_on_open",
     [](AllOptions& o) { o.table.fail_if_no_udi_on_open = true; }},
    {"BlockBasedTableOptions::flush_block_policy_factory",
     [](AllOptions& o) {
       o.table.flush_block_policy_factory = Something<FlushBlockPolicyFactory>();
     }},
    {"BlockBasedTableOptions::persistent_cache",
     [](AllOptions& o) { o.table.persistent_cache = Something<PersistentCache>(); }},
    {"BlockBasedTableOptions::read_amp_bytes_per_bit",
     [](AllOptions& o) { o.table.read_amp_bytes_per_bit = 8; }},
    {"BlockBasedTableOptions::separate_key_value_in_data_block",
     [](AllOptions& o) { o.table.separate_key_value_in_data_block = true; }},
    {"BlockBasedTableOptions::use_udi_as_primary_index",
     [](AllOptions& o) { o.table.use_udi_as_primary_index = true; }},
    {"BlockBasedTableOptions::user_defined_index_factory",
     [](AllOptions& o) {
       o.table.user_defined_index_factory = Something<UserDefinedIndexFactory>();
     }},
};

TEST(PublicSurfaceTest, WhatIsRefusedIsNamed) {
  for (const auto& [name, row] : OptionRows()) {
    const bool by_value = row.state == "refused" && row.evidence.empty();
    EXPECT_EQ(kRefused.contains(name), by_value) << name;
  }
  for (const auto& [name, set] : kRefused) {
    AllOptions options;
    set(options);
    options.cf.table_factory.reset(NewBlockBasedTableFactory(options.table));
    const Status s = ValidateOptions(options.db, options.cf);
    EXPECT_TRUE(s.IsNotSupported()) << name << ": " << s.ToString();
    const std::string field = name.substr(name.rfind(':') + 1);
    EXPECT_NE(s.ToString().find("::" + field), std::string::npos) << s.ToString();
  }
}

// ---- Methods and functions

// All definitions of the name in a source, each on one line, with its body.
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

// Options that C names otherwise, and those that it cannot name: Varve's own, and objects of C++.
const std::map<std::string, std::string>& NamesInC() {
  static const std::map<std::string, std::string> names = {
      {"allow_other_merge_operator", ""},
      {"background_gives_way", ""},
      {"blob_garbage_collection_age_cutoff", "options_set_blob_gc_age_cutoff"},
      {"blob_garbage_collection_force_threshold", "options_set_blob_gc_force_threshold"},
      {"bottommost_compression_opts", "options_set_bottommost_compression_options"},
      {"cache_usage_options", ""},
      {"compaction_options_fifo", "options_set_fifo_compaction_options"},
      {"compaction_options_universal", "options_set_universal_compaction_options"},
      {"compaction_readahead_size", "options_compaction_readahead_size"},
      {"compression_opts", "options_set_compression_options"},
      {"enable_blob_garbage_collection", "options_set_enable_blob_gc"},
      {"fail_if_options_file_error", ""},
      {"flush_block_policy_factory", ""},
      {"listeners", "options_add_eventlistener"},
      {"memtable_factory", "options_set_memtable_vector_rep"},
      {"metadata_cache_options", "block_based_options_set_top_level_index_pinning_tier"},
      {"persistent_cache", ""},
      {"rate_limiter", "options_set_ratelimiter"},
      {"reserve_bytes", ""},
      {"scrub_bytes_per_second", ""},
      {"scrub_period_sec", ""},
      {"statistics", "options_enable_statistics"},
      {"table_factory", "options_set_block_based_table_factory"},
      {"table_properties_collector_factories", "options_add_table_properties_collector_factory"},
      {"user_defined_index_factory",
       "block_based_options_set_user_defined_index_factory_from_string"},
  };
  return names;
}

TEST(PublicSurfaceTest, EveryOptionCanBeSetFromC) {
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

// SPDX-License-Identifier: Apache-2.0

// One grammar is the source of everything about the command line: parsing, --help, manual pages and
// the completion. A command is a constant with its name, help, function and right to write, and a
// few lines that name its options; all options fill one Request.
//
// Texts of keys and values are decoded after parsing, because --hex may stand behind them. A
// command that writes is refused without --write before anything is opened. Every refusal ends with
// status 2 and a sentence that says what to do.

#include "tools/varve/command_line.h"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "varve/version.h"

#include "tools/varve/commands.h"
#include "tools/varve/exit_status.h"
#include "tools/varve/help_pages.h"

namespace varve::tool {

namespace {

constexpr char kDescription[] =
    "Inspects and maintains a database of Varve, or of RocksDB. Commands that read write no byte, "
    "and may run beside the process that writes.";
constexpr char kFooter[] =
    "Keys and values are text in which \\xNN, \\t, \\n, \\r and \\\\ stand for bytes, or hex with "
    "--hex.\nExit status: 0 good; 1 damage, a difference or an absent key; 2 wrong use; 3 no such "
    "database, or one that another process has open for writing; 4 the system failed.";

// Holds texts as they stand on the command line. They are decoded once --hex is known.
struct RawTexts {
  std::string key;
  std::vector<std::string> keys;
  std::string value;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> prefix;
};

// Builds the grammar, with all variables that parsing fills.
class Grammar {
 public:
  Grammar();

  std::optional<int> Parse(int argc, const char* const* argv, Invocation* invocation);

 private:
  CLI::App* Add(const Command& command);
  CLI::App* AddOnDatabase(const Command& command);
  void AddFamily(CLI::App* sub);
  void AddMoment(CLI::App* sub);
  void AddForm(CLI::App* sub);
  void AddRange(CLI::App* sub);
  void AddReading();
  void AddInspecting();
  void AddOfProcesses();
  void AddWriting();
  void AddCopies();
  void AddMaintenance();
  void AddHelp();
  void AddPermission(CLI::App* sub);
  Status Decode();
  int Refuse(const std::string& what) const;

  CLI::App app_{kDescription, "varve"};
  Request request_;
  RawTexts raw_;
  bool hex_ = false;
  const Command* chosen_ = nullptr;
  std::optional<Status> printed_;  // Result of a command that prints help.
};

constexpr Command kInfo{"info", "Says what the database consists of; opens no table", RunInfo};
constexpr Command kFamilies{"families", "Lists the column families", RunFamilies};
constexpr Command kGet{"get", "Prints the values of keys", RunGet};
constexpr Command kScan{"scan", "Prints keys and values in order, one a line", RunScan};
constexpr Command kCheck{"check", "Compares every checksum of every file, and names all damage",
                         RunCheck};
constexpr Command kSst{"sst", "Shows a table file: its properties, or its entries", RunSst};
constexpr Command kLog{"log", "Shows the records of a write-ahead log", RunLog};
constexpr Command kManifest{"manifest", "Shows the edits of a MANIFEST", RunManifest};
constexpr Command kTop{"top", "Prints rates of a running process from its metrics text", RunTop};
constexpr Command kWhySlow{"why-slow", "Orders what slows a process, by its metrics text",
                           RunWhySlow};
constexpr Command kServeMetrics{
    "serve-metrics", "Answers collectors on a port of 127.0.0.1 with the metrics of a database",
    RunServeMetrics};
constexpr Command kReport{"report", "Prints a page of HTML about what a database did, by its LOG",
                          RunReport};
constexpr Command kPut{"put", "Writes one key", RunPut, true};
constexpr Command kDump{"dump", "Writes the contents of all families as text for `load`", RunDump};
constexpr Command kLoad{"load", "Writes the contents of a dump to the database", RunLoad, true};
constexpr Command kCheckpoint{"checkpoint", "Makes a copy of the database in a new directory",
                              RunCheckpoint};
constexpr Command kBackup{"backup", "Adds a backup to a directory of backups, or lists them",
                          RunBackup};
constexpr Command kRestore{"restore", "Makes the database anew from a backup", RunRestore, true};
constexpr Command kIngest{"ingest", "Adds table files to a column family", RunIngest, true};
constexpr Command kCompact{"compact", "Merges the tables of a range of keys", RunCompact, true};
constexpr Command kReduceLevels{"reduce-levels", "Moves the tables of a family into fewer levels",
                                RunReduceLevels, true};
constexpr Command kRepair{
    "repair", "Says what of a damaged database can be kept; repairs it with --write", RunRepair};
constexpr Command kGarbage{
    "garbage", "Lists files that the state does not name; deletes them with --write --yes",
    RunGarbage};
constexpr Command kDelete{"delete", "Deletes keys", RunDelete, true};

Grammar::Grammar() {
  app_.footer(kFooter);
  app_.require_subcommand(1);
  app_.set_version_flag("--version",
                        "varve " + GetVarveVersionAsString() + "\n" + GetVarveBuildInfoAsString());
  AddReading();
  AddInspecting();
  AddOfProcesses();
  AddWriting();
  AddCopies();
  AddMaintenance();
  AddHelp();
}

CLI::App* Grammar::Add(const Command& command) {
  CLI::App* const sub = app_.add_subcommand(command.name, command.help);
  // `command` is one of the constants above, and outlives the grammar.
  sub->callback([this, &command] { chosen_ = &command; });
  sub->add_flag("--json", request_.json, "Prints JSON: one object, or one line for each entry");
  if (command.writes) AddPermission(sub);
  return sub;
}

void Grammar::AddPermission(CLI::App* sub) {
  sub->add_flag("--write", request_.write, "Permits the command to change the database");
}

CLI::App* Grammar::AddOnDatabase(const Command& command) {
  CLI::App* const sub = Add(command);
  sub->add_option("DB", request_.db, "Directory of the database")->required();
  return sub;
}

void Grammar::AddFamily(CLI::App* sub) {
  sub->add_option("-f,--family", request_.family, "Column family")->capture_default_str();
}

void Grammar::AddMoment(CLI::App* sub) {
  sub->add_option("--at", request_.at,
                  "Sequence number of an earlier moment, as far as its entries are still there");
}

void Grammar::AddForm(CLI::App* sub) {
  sub->add_flag("--hex", hex_, "Keys and values are in hex, on the command line and in output");
}

void Grammar::AddRange(CLI::App* sub) {
  AddForm(sub);
  sub->add_option("--prefix", raw_.prefix, "Only keys that begin with these bytes");
  sub->add_option("--limit", request_.limit, "At most so many entries");
  sub->add_flag("--keys-only", request_.keys_only, "Leaves out the values");
}

void Grammar::AddReading() {
  AddOnDatabase(kInfo);
  AddOnDatabase(kFamilies);
  CLI::App* const get = AddOnDatabase(kGet);
  get->add_option("KEY", raw_.keys, "Keys")->required();
  AddFamily(get);
  AddMoment(get);
  AddForm(get);
  CLI::App* const scan = AddOnDatabase(kScan);
  AddFamily(scan);
  AddMoment(scan);
  AddRange(scan);
  scan->add_option("--from", raw_.from, "First key");
  scan->add_option("--to", raw_.to, "Key before which the scan ends");
  scan->add_flag("--reverse", request_.reverse, "From the last key to the first");
}

void Grammar::AddInspecting() {
  CLI::App* const check = AddOnDatabase(kCheck);
  check->add_flag("--quick", request_.quick,
                  "Reads only the ends of tables and blob files, not all of them");
  CLI::App* const sst = Add(kSst);
  sst->add_option("FILE", request_.db, "Table file")->required();
  sst->add_flag("--entries", request_.entries, "Prints each entry: sequence, kind, key, value");
  sst->add_flag("--recompress", request_.recompress,
                "Writes the entries with each codec, in memory, and prints sizes and times");
  sst->add_option("--block-size", request_.block_size, "Bytes of a block of --recompress")
      ->check(CLI::Range(256, 16 << 20))
      ->capture_default_str();
  AddRange(sst);
  CLI::App* const log = Add(kLog);
  log->add_option("FILE", request_.db, "Log file, with its number as its name")->required();
  log->add_flag("--entries", request_.entries, "Prints each update: kind, family, key, value");
  log->add_option("--limit", request_.limit, "At most so many records");
  log->add_flag("--keys-only", request_.keys_only, "Leaves out the values");
  AddForm(log);
  CLI::App* const manifest = Add(kManifest);
  manifest->add_option("DB", request_.db, "Directory of the database, or MANIFEST file")
      ->required();
}

// These read what DumpMetricsToFile wrote.
void Grammar::AddOfProcesses() {
  CLI::App* const top = Add(kTop);
  top->add_option("FILE", request_.db, "Metrics text, which the process writes anew")->required();
  top->add_option("--limit", request_.limit, "At most so many rows");
  top->add_option("--interval-ms", request_.interval_ms, "Milliseconds between two rows")
      ->check(CLI::Range(1, 3600000));
  CLI::App* const report = Add(kReport);
  report->add_option("DB", request_.db, "Directory of the database, or one LOG file")->required();
  report->add_option("--metrics", request_.files, "Metrics texts of its process, for latencies");
  CLI::App* const serve = Add(kServeMetrics);
  serve->add_option("DB", request_.db, "Directory of the database, or metrics text of a process")
      ->required();
  serve->add_option("--port", request_.port, "Port; 0 is a free one, which is printed")
      ->check(CLI::Range(0, 65535));
  serve->add_option("--secondary", request_.target,
                    "Directory for the LOG of a secondary, which stays open and follows; without "
                    "it the database is opened for each answer");
  CLI::App* const why = Add(kWhySlow);
  why->add_option("FILE", request_.db, "Metrics text of the process")->required();
  why->add_option("--since", request_.target, "Earlier text: only what came after it counts");
}

void Grammar::AddWriting() {
  CLI::App* const put = AddOnDatabase(kPut);
  put->add_option("KEY", raw_.key, "Key")->required();
  put->add_option("VALUE", raw_.value, "Value")->required();
  AddFamily(put);
  AddForm(put);
  CLI::App* const erase = AddOnDatabase(kDelete);
  erase->add_option("KEY", raw_.keys, "Keys")->required();
  AddFamily(erase);
  AddForm(erase);
}

void Grammar::AddCopies() {
  AddOnDatabase(kDump);
  CLI::App* const load = AddOnDatabase(kLoad);
  load->add_option("FILE", request_.target, "Dump; - is the standard input")->required();
  load->add_flag("--create", request_.create, "Creates the database, which must not exist");
  load->add_flag("--sst", request_.as_tables,
                 "Writes tables and adds them in one step: the whole dump, or nothing");
  CLI::App* const checkpoint = AddOnDatabase(kCheckpoint);
  checkpoint->add_option("DIRECTORY", request_.target, "Directory, which must not exist")
      ->required();
  CLI::App* const backup = AddOnDatabase(kBackup);
  backup->add_option("DIRECTORY", request_.target, "Directory of backups")->required();
  backup->add_flag("--list", request_.list, "Only lists the backups; DB is not read");
  CLI::App* const restore = AddOnDatabase(kRestore);
  restore->add_option("DIRECTORY", request_.target, "Directory of backups")->required();
  restore->add_option("--backup", request_.backup_id, "Number of the backup; 0 is the newest");
  restore->add_flag("--yes", request_.yes, "Permits it to replace an existing database");
}

void Grammar::AddMaintenance() {
  CLI::App* const ingest = AddOnDatabase(kIngest);
  ingest->add_option("FILE", request_.files, "Table files of SstFileWriter")->required();
  AddFamily(ingest);
  CLI::App* const compact = AddOnDatabase(kCompact);
  AddFamily(compact);
  compact->add_flag("--all", request_.all_families, "All column families");
  compact->add_option("--from", raw_.from, "First key");
  compact->add_option("--to", raw_.to, "Last key");
  AddForm(compact);
  CLI::App* const reduce = AddOnDatabase(kReduceLevels);
  reduce->add_option("LEVELS", request_.levels, "Number of levels")
      ->required()
      ->check(CLI::Range(2, 20));
  AddFamily(reduce);
  AddPermission(AddOnDatabase(kRepair));
  CLI::App* const garbage = AddOnDatabase(kGarbage);
  AddPermission(garbage);
  garbage->add_flag("--yes", request_.yes, "Deletes the files");
}

// These two print and end: they need nothing of a command.
void Grammar::AddHelp() {
  CLI::App* const man = app_.add_subcommand("man", "Writes the manual pages of all commands");
  man->add_option("DIRECTORY", request_.target, "Existing directory for the pages")->required();
  CLI::App* const completion =
      app_.add_subcommand("completion", "Prints the completion of commands and options for bash");
  completion->callback([this] { printed_ = PrintCompletion(app_); });
  man->callback([this] { printed_ = WriteManPages(app_, request_.target); });
}

Status DecodeText(const std::string& text, ByteForm form, std::string* bytes) {
  if (ParseBytes(text, form, bytes)) return Status::OK();
  return Status::InvalidArgument("'" + text + "' is malformed",
                                 form == ByteForm::kHex
                                     ? "hex has two digits for each byte"
                                     : "a backslash begins one of \\xNN \\t \\n \\r \\\\");
}

Status DecodeOptional(const std::optional<std::string>& text, ByteForm form,
                      std::optional<std::string>* bytes) {
  if (!text.has_value()) return Status::OK();
  return DecodeText(*text, form, &bytes->emplace());
}

Status Grammar::Decode() {
  request_.form = hex_ ? ByteForm::kHex : ByteForm::kPlain;
  if (raw_.keys.empty()) raw_.keys.push_back(raw_.key);
  for (const std::string& key : raw_.keys) {
    const Status s = DecodeText(key, request_.form, &request_.keys.emplace_back());
    if (!s.ok()) return s;
  }
  Status s = DecodeText(raw_.value, request_.form, &request_.value);
  if (s.ok()) s = DecodeOptional(raw_.from, request_.form, &request_.from);
  if (s.ok()) s = DecodeOptional(raw_.to, request_.form, &request_.to);
  if (s.ok()) s = DecodeOptional(raw_.prefix, request_.form, &request_.prefix);
  return s;
}

int Grammar::Refuse(const std::string& what) const {
  const std::string name = chosen_ == nullptr ? "" : std::string(" ") + chosen_->name;
  Console::Note("varve" + name + ": " + what);
  return kWrongUse;
}

std::optional<int> Grammar::Parse(int argc, const char* const* argv, Invocation* invocation) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_.exit(error);  // Help, or the version.
    return Refuse(std::string(error.what()) + ". See varve --help.");
  }
  if (printed_.has_value()) {
    if (printed_->ok()) return kGood;
    Console::Note("varve: " + printed_->ToString());
    return StatusOf(*printed_);
  }
  const Status s = Decode();
  if (!s.ok()) return Refuse(s.ToString());
  if (chosen_->writes && !request_.write) {
    return Refuse("this changes the database; add --write to permit it. Nothing was changed.");
  }
  invocation->command = chosen_;
  invocation->request = request_;
  return std::nullopt;
}

}  // namespace

std::optional<int> ReadCommandLine(int argc, const char* const* argv, Invocation* invocation) {
  return Grammar().Parse(argc, argv, invocation);
}

}  // namespace varve::tool

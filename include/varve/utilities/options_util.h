// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions that open a database with the options it was last opened with.
//
//   varve::ConfigOptions config;
//   varve::DBOptions db_options;
//   std::vector<varve::ColumnFamilyDescriptor> families;
//   varve::Status s = varve::LoadLatestOptions(config, "my.db", &db_options, &families);
//   std::vector<varve::ColumnFamilyHandle*> handles;
//   std::unique_ptr<varve::DB> db;
//   if (s.ok()) s = varve::DB::Open(db_options, "my.db", families, &handles, &db);
//
// The forms without ConfigOptions skip objects that text cannot make, such as a comparator of the
// program's own. Set those in the results before opening.

#include <memory>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/export.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

// Reads the newest OPTIONS file of a database: its options and one descriptor for each column
// family, the default one first. Code cannot be stored: comparators and prefix extractors are made
// only where their name determines them; pointers such as env are not changed. Unless `cache` or
// *cache is null, *cache becomes the block cache of all families. NotFound if there is no OPTIONS
// file.
VARVE_EXPORT Status LoadLatestOptions(const ConfigOptions& config_options,
                                      const std::string& dbpath, DBOptions* db_options,
                                      std::vector<ColumnFamilyDescriptor>* cf_descs,
                                      std::shared_ptr<Cache>* cache = {});
VARVE_EXPORT Status LoadLatestOptions(const std::string& dbpath, Env* env, DBOptions* db_options,
                                      std::vector<ColumnFamilyDescriptor>* cf_descs,
                                      bool ignore_unknown_options = false,
                                      std::shared_ptr<Cache>* cache = {});

// Like LoadLatestOptions, but reads the given file. After an error the outputs are unchanged.
// DBOptions::env becomes that of the call.
VARVE_EXPORT Status LoadOptionsFromFile(const ConfigOptions& config_options,
                                        const std::string& options_file_name, DBOptions* db_options,
                                        std::vector<ColumnFamilyDescriptor>* cf_descs,
                                        std::shared_ptr<Cache>* cache = {});
VARVE_EXPORT Status LoadOptionsFromFile(const std::string& options_file_name, Env* env,
                                        DBOptions* db_options,
                                        std::vector<ColumnFamilyDescriptor>* cf_descs,
                                        bool ignore_unknown_options = false,
                                        std::shared_ptr<Cache>* cache = {});

// Sets *options_file_name to the name, within dbpath, of the OPTIONS file with the highest number.
// NotFound if there is none. A later change of options may make a newer file at once.
VARVE_EXPORT Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                             std::string* options_file_name);

// Returns InvalidArgument if the database could not be opened with these options: a comparator or
// the list of column families differs from its OPTIONS file. A database may be opened with other
// values of all other options. ConfigOptions::sanity_level kSanityLevelNone checks nothing.
// NotFound if there is no OPTIONS file.
VARVE_EXPORT Status CheckOptionsCompatibility(const ConfigOptions& config_options,
                                              const std::string& dbpath,
                                              const DBOptions& db_options,
                                              const std::vector<ColumnFamilyDescriptor>& cf_descs);
VARVE_EXPORT Status CheckOptionsCompatibility(const std::string& dbpath, Env* env,
                                              const DBOptions& db_options,
                                              const std::vector<ColumnFamilyDescriptor>& cf_descs,
                                              bool ignore_unknown_options = false);

}  // namespace varve

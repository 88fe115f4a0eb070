// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions that open a database with the options it was last opened with.

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
// only where their name determines them; pointers such as env are not changed. `cache`, if set,
// becomes the block cache of all families. NotFound if there is no OPTIONS file.
VARVE_EXPORT Status LoadLatestOptions(const ConfigOptions& config_options,
                                      const std::string& dbpath, DBOptions* db_options,
                                      std::vector<ColumnFamilyDescriptor>* cf_descs,
                                      std::shared_ptr<Cache>* cache = {});
VARVE_EXPORT Status LoadLatestOptions(const std::string& dbpath, Env* env, DBOptions* db_options,
                                      std::vector<ColumnFamilyDescriptor>* cf_descs,
                                      bool ignore_unknown_options = false,
                                      std::shared_ptr<Cache>* cache = {});

// Like LoadLatestOptions, but reads the given file.
VARVE_EXPORT Status LoadOptionsFromFile(const ConfigOptions& config_options,
                                        const std::string& options_file_name, DBOptions* db_options,
                                        std::vector<ColumnFamilyDescriptor>* cf_descs,
                                        std::shared_ptr<Cache>* cache = {});
VARVE_EXPORT Status LoadOptionsFromFile(const std::string& options_file_name, Env* env,
                                        DBOptions* db_options,
                                        std::vector<ColumnFamilyDescriptor>* cf_descs,
                                        bool ignore_unknown_options = false,
                                        std::shared_ptr<Cache>* cache = {});

// Gets the name, within dbpath, of the OPTIONS file with the highest number.
VARVE_EXPORT Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                             std::string* options_file_name);

// Returns InvalidArgument if the database could not be opened with these options: a comparator or
// the list of column families differs from its OPTIONS file.
VARVE_EXPORT Status CheckOptionsCompatibility(const ConfigOptions& config_options,
                                              const std::string& dbpath,
                                              const DBOptions& db_options,
                                              const std::vector<ColumnFamilyDescriptor>& cf_descs);
VARVE_EXPORT Status CheckOptionsCompatibility(const std::string& dbpath, Env* env,
                                              const DBOptions& db_options,
                                              const std::vector<ColumnFamilyDescriptor>& cf_descs,
                                              bool ignore_unknown_options = false);

}  // namespace varve

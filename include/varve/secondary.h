// SPDX-License-Identifier: Apache-2.0
#pragma once

// Secondaries: databases that another process, the primary, writes.
//
// DB::OpenAsSecondary shows the newest state. In the primary's directories nothing is changed; the
// directory for the LOG is made if it is missing, and is none of the primary's (InvalidArgument). A
// subset of column families may be listed; those that are made later are left out, those that are
// dropped stay readable. Whatever changes a database is NotSupported. Snapshots and iterators are
// the secondary's own, and hold still. Tables stay open; with max_open_files other than -1 a read
// may fail with IOError of a file that the primary has deleted, until the next catch-up.
//
// DB::TryCatchUpWithPrimary goes to the newest state, for all column families at one moment; never
// back. On an error the secondary shows what it did. Aborted: the primary has lost, by a power
// failure, what was read of it already, or a promotion has failed half-way; open it again.
//
// DB::GetSecondaryLag tells by what files tell, and reads the logs that were not taken yet.
//
// DB::Promote makes a secondary the primary: it takes the lock of the database, catches up to the
// end, and is a database like one that was opened to be written, with all that it had in memory;
// nothing is replayed. Transactions that were prepared and are undecided are there to be decided
// (TransactionDB::WrapDB), if the secondary was opened with DBOptions::allow_2pc. It stays a
// secondary with IOError while the primary lives, InvalidArgument if there are such and it was
// not, or if there are column families that it has not opened, NotSupported on storage of the
// network, and Corruption if something is lost that was durable.

#include <cstdint>

namespace varve {

// How far a secondary is behind its primary, as far as files tell. Varve's own.
struct SecondaryLag {
  uint64_t log_bytes = 0;  // Of records in logs that the secondary has not taken yet.
  uint64_t sequences = 0;  // Numbers that those records have.
  // Microseconds since the secondary last had all that there was. 0: it has all.
  uint64_t age_micros = 0;
};

// For DB::Promote. Varve's own.
struct PromoteOptions {
  // The lock of a database keeps out processes of the same machine alone. False: a database on
  // storage of the network is refused, as its primary may live on another machine.
  bool allow_network_storage = false;
};

}  // namespace varve

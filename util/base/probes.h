// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the places where a tracer (bpftrace, perf, SystemTap, gdb) can listen to a running
// process without a new build: probes of the kind USDT, of the provider `varve`. Each is one
// instruction that does nothing, and a note in the program that tells where it is and where its
// arguments are. tools/varve/PROBES.md describes them to operators; tests/tools/probes_test
// compares the names here, there, and in a built program.
//
//    VARVE_PROBE_LOG_SYNC_BEGIN(round, dirty.size());
//
// VARVE_HAS_SDT says that the build found <sys/sdt.h>; the root CMakeLists.txt lists the rooms that
// are compiled with it. Without it the macros compile to nothing, and their arguments are not
// evaluated. With it they are evaluated whether or not anybody listens: they are numbers and C
// strings that the caller has anyway. No probe lies on the path of a read that the block cache
// answers. Use the macros in .cc files only.
//
// An end is reported for every begin, also of what fails, unless an exception ends the work.

#ifdef VARVE_HAS_SDT
#include <sys/sdt.h>

#define VARVE_PROBE_1(name, a) DTRACE_PROBE1(varve, name, a)
#define VARVE_PROBE_2(name, a, b) DTRACE_PROBE2(varve, name, a, b)
#define VARVE_PROBE_3(name, a, b, c) DTRACE_PROBE3(varve, name, a, b, c)
#define VARVE_PROBE_4(name, a, b, c, d) DTRACE_PROBE4(varve, name, a, b, c, d)
#define VARVE_PROBE_5(name, a, b, c, d, e) DTRACE_PROBE5(varve, name, a, b, c, d, e)
#else
// An operand of sizeof is not evaluated, but counts as a use of the variable.
#define VARVE_PROBE_1(name, a) static_cast<void>(sizeof(a))
#define VARVE_PROBE_2(name, a, b) (VARVE_PROBE_1(name, a), VARVE_PROBE_1(name, b))
#define VARVE_PROBE_3(name, a, b, c) (VARVE_PROBE_2(name, a, b), VARVE_PROBE_1(name, c))
#define VARVE_PROBE_4(name, a, b, c, d) (VARVE_PROBE_3(name, a, b, c), VARVE_PROBE_1(name, d))
#define VARVE_PROBE_5(name, a, b, c, d, e) (VARVE_PROBE_4(name, a, b, c, d), VARVE_PROBE_1(name, e))
#endif

// Status codes, reasons and Booleans are reported as numbers of four bytes.
#define VARVE_PROBE_NUMBER(value) static_cast<int>(value)

#define VARVE_PROBE_WRITE_BEGIN(bytes, updates, sync) \
  VARVE_PROBE_3(write_begin, bytes, updates, VARVE_PROBE_NUMBER(sync))
#define VARVE_PROBE_WRITE_END(first_sequence, status) \
  VARVE_PROBE_2(write_end, first_sequence, VARVE_PROBE_NUMBER((status).code()))

#define VARVE_PROBE_LOG_SYNC_BEGIN(round, logs) VARVE_PROBE_2(log_sync_begin, round, logs)
#define VARVE_PROBE_LOG_SYNC_END(round, status) \
  VARVE_PROBE_2(log_sync_end, round, VARVE_PROBE_NUMBER((status).code()))

#define VARVE_PROBE_MEMTABLE_SWITCH(family, entries, bytes, next_log) \
  VARVE_PROBE_4(memtable_switch, family, entries, bytes, next_log)

#define VARVE_PROBE_FLUSH_BEGIN(family, job, memtables, reason) \
  VARVE_PROBE_4(flush_begin, family, job, memtables, VARVE_PROBE_NUMBER(reason))
#define VARVE_PROBE_FLUSH_END(family, job, table_bytes, status) \
  VARVE_PROBE_4(flush_end, family, job, table_bytes, VARVE_PROBE_NUMBER((status).code()))

#define VARVE_PROBE_COMPACTION_BEGIN(family, job, from_level, to_level, reason) \
  VARVE_PROBE_5(compaction_begin, family, job, from_level, to_level, VARVE_PROBE_NUMBER(reason))
#define VARVE_PROBE_COMPACTION_END(family, job, bytes_read, bytes_written, status) \
  VARVE_PROBE_5(compaction_end, family, job, bytes_read, bytes_written,            \
                VARVE_PROBE_NUMBER((status).code()))

#define VARVE_PROBE_WRITE_STALL_BEGIN(why, stopped) \
  VARVE_PROBE_2(write_stall_begin, why, VARVE_PROBE_NUMBER(stopped))
#define VARVE_PROBE_WRITE_STALL_END(micros) VARVE_PROBE_1(write_stall_end, micros)

#define VARVE_PROBE_BLOCK_READ_BEGIN(file, offset, bytes, kind) \
  VARVE_PROBE_4(block_read_begin, file, offset, bytes, VARVE_PROBE_NUMBER(kind))
#define VARVE_PROBE_BLOCK_READ_END(file, offset, status) \
  VARVE_PROBE_3(block_read_end, file, offset, VARVE_PROBE_NUMBER((status).code()))
#define VARVE_PROBE_MULTI_READ_BEGIN(files) VARVE_PROBE_1(multi_read_begin, files)
#define VARVE_PROBE_MULTI_READ_END(files) VARVE_PROBE_1(multi_read_end, files)

#define VARVE_PROBE_ERROR_RAISED(message, reason, status)          \
  VARVE_PROBE_3(error_raised, message, VARVE_PROBE_NUMBER(reason), \
                VARVE_PROBE_NUMBER((status).code()))

#define VARVE_PROBE_FILE_DELETED(path, status) \
  VARVE_PROBE_2(file_deleted, path, VARVE_PROBE_NUMBER((status).code()))

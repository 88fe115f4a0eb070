// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares merge operators that are Python functions. All calls need Python's lock.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace varve_python {

// These are the types of rocksdb_mergeoperator_create and of its callbacks.
using FullMerge = char* (*)(void*, const char*, size_t, const char*, size_t, const char* const*,
                            const size_t*, int, unsigned char*, size_t*);
using PartialMerge = char* (*)(void*, const char*, size_t, const char* const*, const size_t*, int,
                               unsigned char*, size_t*);
using CreateOperator = void* (*)(void*, void (*)(void*), FullMerge, PartialMerge,
                                 void (*)(void*, const char*, size_t), const char* (*)(void*));

// Says by which function of the library operators are made, before anything else is used.
void BindOperators(CreateOperator create);

// Returns true if a merge operator runs on this thread, which must not call the library then: the
// library may hold locks around the operator.
bool InOperator();

// Raises an exception and returns false if a merge operator runs on this thread.
bool CheckOutside();

// Forgets the exception that an operator has raised on this thread. Each call of the library begins
// with this, so that an exception found after it is its own.
void DropFailure();

// Returns that exception, which the caller owns then, or null if there is none.
PyObject* TakeFailure();

// Implements merge_operator(name, full, partial), which returns a handle of the library, for
// options that own it. The name is bytes, `partial` may be None.
PyObject* MakeOperator(PyObject* module, PyObject* args);

// Implements in_child(), which forgets the calls of threads that a fork has left in the parent.
PyObject* ForgetParent(PyObject* module, PyObject* unused);

// Implements end_operators(), which lets no operator run any more, and waits for those that do.
PyObject* EndOperators(PyObject* module, PyObject* unused);

}  // namespace varve_python

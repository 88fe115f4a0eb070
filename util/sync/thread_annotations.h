// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines names for clang's thread-safety analysis; they have no effect with other compilers.

#if defined(__clang__)
#define VARVE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define VARVE_THREAD_ANNOTATION(x)
#endif

// These mark types: a lock, and a guard that holds a lock while it lives.
#define VARVE_CAPABILITY(x) VARVE_THREAD_ANNOTATION(capability(x))
#define VARVE_SCOPED_CAPABILITY VARVE_THREAD_ANNOTATION(scoped_lockable)

// These mark members: the lock that must be held to access the member, or what it points to.
#define VARVE_GUARDED_BY(x) VARVE_THREAD_ANNOTATION(guarded_by(x))
#define VARVE_PT_GUARDED_BY(x) VARVE_THREAD_ANNOTATION(pt_guarded_by(x))

// These mark functions: what the caller must hold, or must not hold.
#define VARVE_REQUIRES(...) VARVE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define VARVE_EXCLUDES(...) VARVE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// These mark functions: what they acquire and release.
#define VARVE_ACQUIRE(...) VARVE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define VARVE_RELEASE(...) VARVE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define VARVE_TRY_ACQUIRE(...) VARVE_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define VARVE_ASSERT_CAPABILITY(x) VARVE_THREAD_ANNOTATION(assert_capability(x))
#define VARVE_RETURN_CAPABILITY(x) VARVE_THREAD_ANNOTATION(lock_returned(x))

// This marks the few functions that the analysis cannot follow; say why next to it.
#define VARVE_NO_THREAD_SAFETY_ANALYSIS VARVE_THREAD_ANNOTATION(no_thread_safety_analysis)

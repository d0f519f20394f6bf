// SPDX-License-Identifier: BSD-3-Clause
// Parallel: runs a function on several workers; on the library's own threads or the host's.
#pragma once

#include <functional>

#include "leeway/base/export.h"
#include "leeway/base/types.h"

namespace leeway {

// Runs work(0) ... work(workers - 1), each once, in any order or at the same time, and returns when
// all are done. A host may supply an executor to use its own threads. `work` does not throw.
using Executor = std::function<void(unsigned workers, const std::function<void(unsigned)>& work)>;

// Calls f(i) for i in [0, count), each once, handed out in ascending order to at most `threads`
// workers. The first exception stops the rest and is rethrown here.
LEEWAY_EXPORT void for_each_index(u64 count, unsigned threads, const Executor& executor,
                                  const std::function<void(u64)>& f);

// How many threads the work that this thread was given may use itself: more than one if there were
// fewer pieces of work than threads; one on threads of the host.
LEEWAY_EXPORT unsigned threads_to_share();

// Calls make(i) for i in [0, count) on the workers and finish(i) in ascending order, one at a time,
// as soon as make(i) and all finish() before are done. At most `window` indices are made but not
// finished.
LEEWAY_EXPORT void for_each_in_order(u64 count, unsigned threads, u64 window,
                                     const Executor& executor, const std::function<void(u64)>& make,
                                     const std::function<void(u64)>& finish);

}  // namespace leeway

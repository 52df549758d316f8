// SPDX-License-Identifier: Apache-2.0
/// @file row_chunks.hpp
/// Shares the rows of a sparse matrix among the threads of a host space.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../core/space.hpp"
#include "../../formats/chunks.hpp"
#include "../nest/partition.hpp"
#include "sparse_rows.hpp"

namespace sporos::detail {

/// Calls body(begin, end) for chunks of rows with about equally many nonzeros each. Usually there are several
/// chunks per thread, handed out as threads become free. If the matrix fits in the cores' private caches,
/// each thread gets one, so that it finds its part in its cache again. Rethrows the first exception that a
/// call throws.
///
/// @param step  about how many operations a nonzero takes; too little work in total stays on one thread
template <class Matrix, class Body>
void for_each_row_chunk(const HostThreads& host_threads, const Matrix& a, std::int64_t step,
                        const Body& body) {
  constexpr std::int64_t least_work = 8192;  // operations; they take as long as waking a thread
  constexpr std::int64_t most_cached = std::int64_t{1} << 20;  // bytes per thread
  // An empty row costs something too.
  const auto work_before = [&a](std::int64_t row) { return a.begin(row) + row; };
  const std::int64_t threads = host_threads.concurrency();
  const std::int64_t work = a.rows > 0 ? work_before(a.rows) * step : 0;
  const std::int64_t bytes = a.nnz() * static_cast<std::int64_t>(sizeof(*a.values) + sizeof(*a.coordinates));
  const std::int64_t most = bytes <= threads * most_cached ? threads : 16 * threads;
  const std::int64_t count = threads == 1 ? 1 : std::min({work / least_work, a.rows, most});
  if (count <= 1) {
    body(std::int64_t{0}, a.rows);
    return;
  }
  const auto cuts = cut(a.rows, count, work_before);
  for_each_chunk(host_threads, count, [&](std::int64_t chunk) {
    const auto at = static_cast<std::size_t>(chunk);
    body(cuts[at], cuts[at + 1]);
  });
}

}  // namespace sporos::detail

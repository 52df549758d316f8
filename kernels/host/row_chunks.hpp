// SPDX-License-Identifier: Apache-2.0
/// @file row_chunks.hpp
/// The rows of a sparse matrix shared among the threads of a host space.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../core/space.hpp"
#include "../nest/partition.hpp"
#include "sparse_rows.hpp"

namespace sporos::detail {

/// Calls body(begin, end) for chunks of the rows, of about as many nonzeros each, which are handed out as
/// threads become free. Nothing is thrown out of `body`.
///
/// @param step  about how many operations a nonzero takes: what takes too few altogether stays on one thread
template <HostSpace Space, class Matrix, class Body>
void for_each_row_chunk(const Matrix& a, std::int64_t step, const Body& body) {
  constexpr std::int64_t least_work = 8192;  // takes as long as waking a thread, or longer
  constexpr std::int64_t chunks_per_thread = 16;
  // A row without nonzeros is work as well.
  const auto below = [&a](std::int64_t row) { return a.begin(row) + row; };
  const std::int64_t threads = Space().concurrency();
  const std::int64_t work = a.rows > 0 ? below(a.rows) * step : 0;
  const std::int64_t count =
      threads == 1 ? 1 : std::min({work / least_work, a.rows, threads * chunks_per_thread});
  if (count <= 1) {
    body(std::int64_t{0}, a.rows);
    return;
  }
  const auto cuts = cut(a.rows, count, below);
  Kokkos::parallel_for("sporos::rows",
                       Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>>(0, count),
                       [&](std::int64_t chunk) {
                         const auto at = static_cast<std::size_t>(chunk);
                         body(cuts[at], cuts[at + 1]);
                       });
  Space().fence("sporos::rows");
}

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file ghosted.hpp
/// A distributed matrix in the form that other libraries take: this rank's columns first, then those of
/// others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "../formats/named.hpp"
#include "distribution.hpp"
#include "row_fetch.hpp"
#include "tensor.hpp"

namespace sporos {

/// This rank's rows of a CSR matrix, with columns numbered as in hypre, PETSc and Tpetra: first the columns
/// that the rank owns, by their local numbers, then the *ghosts*, columns of its nonzeros that other ranks
/// own.
///
///     columns   rank 0 │ rank 1 │ rank 2           of rank 1, numbered     0  1 │ 2  3
///               0    1 │ 2    3 │ 4    5                                   2  3 │ 1  5   global
///     row 2          a │ b      │                  row 0                   b    │ a
///     row 3            │      c │      d           row 1                      c │    d
///
/// The columns of a row are not in order, so the format is CSR with an unordered level.
template <class T>
struct Ghosted;
template <TensorValue Value, class Position, class Coordinate, ExecutionSpace Space>
struct Ghosted<Distributed<Tensor<Value, CSR<Position, Coordinate>, Space>>> {
  using format = UnorderedCSR<Position, Coordinate>;

  Tensor<Value, format, Space> matrix;  ///< shares the values of the distributed matrix
  std::int64_t own_columns = 0;         ///< columns that this rank owns
  std::vector<std::int64_t> ghosts;  ///< global columns of numbers own_columns, own_columns + 1, …, by owner
  std::vector<int> owners;           ///< owners of the ghosts, ascending
};

/// This rank's rows of a CSR matrix, in local and ghost numbering. Not collective.
/// @param columns  who owns which column: the partition of the vectors to be multiplied
/// @throws ShapeError if the columns are not divided among the ranks, or are not the matrix's, or if the
/// matrix has its nonzeros dealt out one by one
template <class Value, class Position, class Coordinate, class Space>
auto ghosted(const Distributed<Tensor<Value, CSR<Position, Coordinate>, Space>>& A,
             const Partition& columns) {
  using Matrix = Distributed<Tensor<Value, CSR<Position, Coordinate>, Space>>;
  using Out = Ghosted<Matrix>;
  if (columns.extent() != A.extent(1) || columns.parts() != A.ranks().size())
    throw ShapeError(text("a partition of ", columns.extent(), " columns into ", columns.parts(),
                          " parts does not number those of a matrix of ", to_string(A.extents()), " on ",
                          A.ranks().size(), " ranks"));
  if (A.distribution().is_fine_grained())
    throw ShapeError(text("a rank has no whole rows of a matrix with ", A.distribution().str(),
                          ": redistribute it by rows"));
  const int rank = A.ranks().rank();
  const auto is_own = [&](std::int64_t c) { return columns.parts() == 1 || columns.owner(c) == rank; };
  Out out;
  out.own_columns = columns.count(columns.parts() == 1 ? 0 : rank);

  const auto& level = A.local().template level<1>();
  const auto given = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), level.coordinates);
  for (std::size_t q = 0; q < given.extent(0); ++q)
    if (const auto c = static_cast<std::int64_t>(given(q)); !is_own(c)) out.ghosts.push_back(c);
  const auto by_owner = [&](std::int64_t a, std::int64_t b) {
    return std::pair(columns.owner(a), a) < std::pair(columns.owner(b), b);
  };
  std::sort(out.ghosts.begin(), out.ghosts.end(), by_owner);
  out.ghosts.erase(std::unique(out.ghosts.begin(), out.ghosts.end()), out.ghosts.end());
  for (const std::int64_t c : out.ghosts) out.owners.push_back(columns.owner(c));

  const std::int64_t count = out.own_columns + std::ssize(out.ghosts);
  const auto numbers = make_array<Coordinate, typename Space::memory_space>(
      "sporos::Ghosted columns", static_cast<std::int64_t>(given.extent(0)));
  const auto here = Kokkos::create_mirror_view(Kokkos::HostSpace(), numbers);
  for (std::size_t q = 0; q < given.extent(0); ++q) {
    const auto c = static_cast<std::int64_t>(given(q));
    const std::int64_t number =
        is_own(c) ? columns.local(c)
                  : out.own_columns + (std::lower_bound(out.ghosts.begin(), out.ghosts.end(), c, by_owner) -
                                       out.ghosts.begin());
    here(q) = narrow<Coordinate>(number, "the number of a column");
  }
  Kokkos::deep_copy(numbers, here);
  using Result = decltype(out.matrix);
  typename Result::level_storage levels;
  std::get<0>(levels) = A.local().template level<0>();
  std::get<1>(levels).positions = level.positions;
  std::get<1>(levels).coordinates = numbers;
  out.matrix = Result({A.local().extent(0), count}, std::move(levels), A.local().values(), A.local().owner());
  return out;
}

}  // namespace sporos

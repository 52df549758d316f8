// SPDX-License-Identifier: Apache-2.0
/// @file generated.hpp
/// Matrices and tensors made from a few numbers: the same on any machine and for any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "input.hpp"

namespace sporos::tool {

/// The Laplacian of a grid of one to three dimensions with zeros around it: -1 for each neighbour of a point,
/// and on the diagonal the number of neighbours of an interior point.
/// @param corners  whether points touching at a corner are neighbours (9 points in 2-D, 27 in 3-D), not only
///                 those touching at a side (5, 7)
Entries<double, 2> laplacian(const std::vector<std::int64_t>& grid, bool corners);

/// A graph whose edges are concentrated in one corner of the matrix: recursively, an edge falls into the four
/// quarters with probabilities 0.57, 0.19, 0.19 and 0.05. Edges drawn twice appear once.
///
/// D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004; the
/// probabilities are those of Graph500.
/// @param draws  number of edges drawn
Entries<double, 2> rmat(std::int64_t nodes, std::int64_t draws, std::uint64_t seed);

/// `count` different coordinates of a tensor of order 1 to 6, with each subset of that size about equally
/// likely; `count` must not exceed the number of coordinates, which must be less than 2^126.
AnyEntries uniform(const std::vector<std::int64_t>& extents, std::int64_t count, std::uint64_t seed);

/// All entries (i, j) with i - lower <= j <= i + upper.
Entries<double, 2> banded(const Extents<2>& extents, std::int64_t lower, std::int64_t upper,
                          std::uint64_t seed);

/// Ones on the diagonal.
Entries<double, 2> identity(const Extents<2>& extents);

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file ordering.hpp
/// Orders of the rows and columns of a square matrix that bring its entries closer to the diagonal.
#pragma once

#include <cstdint>
#include <vector>

#include "input.hpp"

namespace sporos::tool {

/// The graph of a square matrix: i and j are neighbours if there is an entry (i, j) or (j, i).
struct Graph {
  std::vector<std::int64_t> begins;      ///< index of each node's first neighbour; the last is their number
  std::vector<std::int64_t> neighbours;  ///< ascending for each node, which is not its own neighbour

  std::int64_t nodes() const { return static_cast<std::int64_t>(begins.size()) - 1; }
  std::int64_t degree(std::int64_t node) const {
    return begins[static_cast<std::size_t>(node) + 1] - begins[static_cast<std::size_t>(node)];
  }
};

Graph graph_of(const AnyEntries& entries);

/// An order of nodes: the node in each place.
using NodeOrder = std::vector<std::int64_t>;

/// Reverse Cuthill-McKee: breadth-first from a node at the end of a long shortest path of each component,
/// with neighbours in ascending order of degree; nodes of equal degree are in the order of their numbers.
///
/// E. Cuthill, J. McKee, "Reducing the Bandwidth of Sparse Symmetric Matrices", ACM '69; the reversal and the
/// first node are from A. George, J. Liu, "Computer Solution of Large Sparse Positive Definite Systems",
/// 1981.
NodeOrder reverse_cuthill_mckee(const Graph& graph);

/// Nodes in ascending order of degree; nodes of equal degree are in the order of their numbers.
NodeOrder by_degree(const Graph& graph);

/// How far entries are from the diagonal if nodes are in a given order.
struct Envelope {
  std::int64_t bandwidth = 0;  ///< largest |i - j| of neighbours
  std::int64_t profile = 0;    ///< sum over the rows of i - j, with j the first neighbour before i
};
Envelope envelope(const Graph& graph, const NodeOrder& order);

/// The place of each node.
std::vector<std::int64_t> places(const NodeOrder& order);

/// The matrix with its rows and columns in this order, sorted; entries at the same coordinate are merged.
AnyEntries reordered(const AnyEntries& entries, const NodeOrder& order, Duplicates duplicates);

}  // namespace sporos::tool

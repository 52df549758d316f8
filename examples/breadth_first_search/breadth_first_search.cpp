// SPDX-License-Identifier: Apache-2.0
/// @file breadth_first_search.cpp
/// Breadth-first search and triangle counting in index notation, on a graph of who has exchanged messages
/// with whom.
///
/// A step of the search goes from the frontier, a sparse vector, along the edges to the vertices not yet
/// visited: a product over the semiring of *or* and *and*, under the complement of a mask. A search with a
/// queue checks the distances, and sorted neighbour lists check the number of triangles.
///
///     breadth_first_search [matrix file] [vertex to start from]
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <queue>
#include <sporos/sporos.hpp>
#include <string>
#include <vector>

using namespace sporos;
using namespace sporos::indices;

namespace {

using Graph = Tensor<bool, CSR<>>;
using Distances = Tensor<std::int32_t, DenseVector>;

/// The number of edges on the shortest path from `source` to each vertex; -1 if there is no path.
Distances distances_from(const Graph& edges, std::int64_t source) {
  const std::int64_t vertices = edges.extent(0);
  auto frontier = assemble<SparseVector<>>(Entries<bool, 1>({vertices}, {{{source}, true}}));
  Tensor<bool, DenseVector> visited({vertices});
  Distances distance({vertices});
  visited(i) = frontier(i);
  distance(i) = -1;
  distance(i) += pattern(frontier(i));
  for (std::int32_t step = 1; frontier.nnz() > 0; ++step) {
    Tensor<bool, SparseVector<>> next({vertices});
    next(j) = !visited(j) * (frontier(i) * edges(i, j));
    visited(j) += next(j);
    distance(j) += (step + 1) * pattern(next(j));
    frontier = next;
  }
  return distance;
}

/// The same distances, found with a queue of vertices.
std::vector<std::int32_t> distances_by_queue(const Graph& edges, std::int64_t source) {
  const auto rows = edges.level<1>().view();
  std::vector<std::int32_t> distance(static_cast<std::size_t>(edges.extent(0)), -1);
  std::queue<std::int64_t> waiting({source});
  distance[static_cast<std::size_t>(source)] = 0;
  for (; !waiting.empty(); waiting.pop()) {
    const std::int64_t from = waiting.front();
    const Bounds row = rows.pos_bounds(from);
    for (std::int64_t at = row.begin; at < row.end; ++at) {
      auto& there = distance[static_cast<std::size_t>(rows.coord_at(at))];
      if (there >= 0) continue;
      there = distance[static_cast<std::size_t>(from)] + 1;
      waiting.push(rows.coord_at(at));
    }
  }
  return distance;
}

/// The edges that lead to vertices with smaller numbers.
Tensor<std::int64_t, CSR<>> edges_below(const Graph& edges) {
  std::vector<Extents<2>> below;
  const auto rows = edges.level<1>().view();
  for (std::int64_t row = 0; row < edges.extent(0); ++row) {
    const Bounds of_row = rows.pos_bounds(row);
    for (std::int64_t at = of_row.begin; at < of_row.end; ++at)
      if (rows.coord_at(at) < row) below.push_back({row, rows.coord_at(at)});
  }
  Entries<std::int64_t, 2> out(edges.extents(), static_cast<std::int64_t>(below.size()));
  for (std::int64_t at = 0; at < out.size(); ++at) out.set(at, below[static_cast<std::size_t>(at)], 1);
  return assemble<CSR<>>(out);
}

/// The number of triangles i > j > k: pairs of edges i-j, i-k for which there is an edge j-k.
std::int64_t triangles(const Graph& edges) {
  const auto L = edges_below(edges);
  return sum(L(i, j) * L(i, k) * L(j, k));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Kokkos::ScopeGuard guard(argc, argv);
    const std::string file = argc > 1 ? argv[1] : SPOROS_EXAMPLE_DATA "/ca-CondMat.mtx.gz";
    const auto matrix = read<CSR<>>(file);
    Graph edges(matrix.extents());
    edges(i, j) = pattern(matrix(i, j));
    const std::int64_t source = argc > 2 ? std::atoll(argv[2]) : 0;
    if (source < 0 || source >= edges.extent(0))
      throw RangeError(fmt::format("the search starts from vertex {}, but the graph has vertices 0 to {}",
                                   source, edges.extent(0) - 1));

    const Distances distance = distances_from(edges, source);
    const auto expected = distances_by_queue(edges, source);
    std::vector<std::int64_t> at_distance;
    bool equal = true;
    for (std::int64_t v = 0; v < edges.extent(0); ++v) {
      const std::int32_t d = distance.values()(v);
      equal = equal && d == expected[static_cast<std::size_t>(v)];
      if (d < 0) continue;
      if (at_distance.size() <= static_cast<std::size_t>(d))
        at_distance.resize(static_cast<std::size_t>(d) + 1);
      ++at_distance[static_cast<std::size_t>(d)];
    }
    fmt::print("{} vertices, {} edges\n", edges.extent(0), edges.nnz());
    for (std::size_t d = 0; d < at_distance.size(); ++d)
      fmt::print("{:3} steps from vertex {}: {} vertices\n", d, source, at_distance[d]);
    fmt::print("{} triangles\n", triangles(edges));
    fmt::print("{}\n", equal ? "every distance is that of a search with a queue"
                             : "distances differ from those of a search with a queue");
    return equal ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return EXIT_FAILURE;
  }
}

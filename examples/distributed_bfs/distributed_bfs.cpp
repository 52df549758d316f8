// SPDX-License-Identifier: Apache-2.0
/// @file distributed_bfs.cpp
/// Breadth-first search of a graph, on any number of ranks.
///
///     distributed_bfs [graph.mtx] [vertex to start from]
///     mpirun -n 4 distributed_bfs
///
/// A step goes from the frontier, a distributed sparse vector, along the edges to the vertices not yet
/// visited: a product of truth values, where + is *or* and * is *and*, under the complement of a mask. Each
/// rank follows the edges of its own vertices, and informs the owners of those that it reaches. The distances
/// are checked by a property that only they have: each is 1 more than the smallest of its neighbours', which
/// is computed by a product over the semiring of minimum and plus.
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

namespace {

using namespace sporos::indices;
using sporos::Communicator;
using sporos::Distributed;
using sporos::Tensor;
using Graph = Distributed<Tensor<bool, sporos::CSR<>>>;
using Lengths = Distributed<Tensor<std::int32_t, sporos::CSR<>>>;
using Frontier = Distributed<Tensor<bool, sporos::SparseVector<>>>;
using Visited = Distributed<Tensor<bool, sporos::DenseVector>>;
using Distances = Distributed<Tensor<std::int32_t, sporos::DenseVector>>;

constexpr std::int32_t unreached = std::numeric_limits<std::int32_t>::max();

/// Finds the number of edges from `source` to each vertex; returns the number of vertices at each distance.
std::vector<std::int64_t> search(const Graph& edges, std::int64_t source, const Distances& distance) {
  const auto vertices = along(edges, 0);
  sporos::Entries<bool, 1> first({edges.extent(0)}, edges.ranks().rank() == 0 ? 1 : 0);
  if (first.size() > 0) first.set(0, {source}, true);
  Frontier frontier = sporos::assemble<sporos::SparseVector<>>(vertices, first);
  const Visited visited(vertices);
  visited(i) = frontier(i);
  distance(i) = unreached;
  distance(i) += -unreached * pattern(frontier(i));
  std::vector<std::int64_t> at_distance;
  while (const std::int64_t reached = total_nnz(frontier)) {
    at_distance.push_back(reached);
    const auto step = static_cast<std::int32_t>(at_distance.size());
    const Frontier next(vertices);
    next(j) = !visited(j) * (frontier(i) * edges(i, j));
    visited(j) += next(j);
    distance(j) += (step - unreached) * pattern(next(j));
    frontier = next;
  }
  return at_distance;
}

/// Whether each distance is 1 more than the smallest of its neighbours', and that of the source is 0.
bool are_distances(const Graph& edges, std::int64_t source, const Distances& distance) {
  const Lengths ones(edges.distribution());
  ones(i, j) = 1 * pattern(edges(i, j));
  const Distances least(distance.distribution());
  assign(least(i), ones(i, j) * distance(j)).over(sporos::MinPlus{}).run();
  return sporos::jointly(edges.ranks(), [&] {
    bool all = true;
    for (std::int64_t v = 0; v < distance.nnz(); ++v) {
      const bool is_source = distance.distribution().global(edges.ranks().rank(), {v})[0] == source;
      all = all && distance.local().values()(v) == (is_source ? 0 : least.local().values()(v));
    }
    sporos::agree(edges.ranks(), "checking distances");
    return edges.ranks().min(all);
  });
}

int run(const Communicator& ranks, int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : SPOROS_EXAMPLE_DATA "/ca-CondMat.mtx.gz";
  const std::int64_t source = argc > 2 ? std::atoll(argv[2]) : 0;
  const auto matrix = sporos::read<sporos::CSR<>>(ranks, file);
  if (matrix.extent(0) != matrix.extent(1)) throw sporos::ShapeError("the matrix of a graph is square");
  if (source < 0 || source >= matrix.extent(0))
    throw sporos::RangeError(
        fmt::format("the search starts from vertex {}, but the graph has vertices 0 to {}", source,
                    matrix.extent(0) - 1));
  const Graph edges(matrix.distribution());
  edges(i, j) = pattern(matrix(i, j));

  const Distances distance(along(edges, 0));
  const auto at_distance = search(edges, source, distance);
  const std::int64_t count = total_nnz(edges);
  const bool is_right = are_distances(edges, source, distance);
  if (ranks.rank() == 0) {
    fmt::print("{} vertices, {} edges on {} ranks\n", edges.extent(0), count, ranks.size());
    for (std::size_t d = 0; d < at_distance.size(); ++d)
      fmt::print("{:3} steps from vertex {}: {} vertices\n", d, source, at_distance[d]);
    fmt::print("{}\n", is_right ? "every distance is 1 more than the least of its neighbours'"
                                : "a distance is not 1 more than the least of its neighbours'");
  }
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const sporos::MpiScope mpi(argc, argv);
  const sporos::ScopeGuard guard(argc, argv);
  const auto ranks = Communicator::world();
  // An error on one rank, of any kind, becomes an error of all ranks.
  return sporos::run_jointly(ranks, [&] { return run(ranks, argc, argv); });
}

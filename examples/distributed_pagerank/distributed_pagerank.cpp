// SPDX-License-Identifier: Apache-2.0
/// @file distributed_pagerank.cpp
/// PageRank of a graph, on any number of ranks.
///
///     distributed_pagerank [graph.mtx]
///     mpirun -n 4 distributed_pagerank
///
/// L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank citation ranking" (1998). The graph is read from
/// a file, of which each rank reads a part, and where entry (i, j) is a link from i to j; or it is made:
/// pages link to some earlier pages, most often to popular ones.
#include <fmt/core.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sporos::indices;
using sporos::Communicator;
using Graph = sporos::Distributed<sporos::Tensor<double, sporos::CSR<>>>;
using Vector = sporos::Distributed<sporos::Tensor<double, sporos::DenseVector>>;
using Number = sporos::Tensor<double, sporos::Scalar>;

struct Inverse {
  KOKKOS_FUNCTION double operator()(double x) const { return x > 0 ? 1 / x : 0; }
};
struct IsZero {
  KOKKOS_FUNCTION double operator()(double x) const { return x > 0 ? 0 : 1; }
};
struct Magnitude {
  KOKKOS_FUNCTION double operator()(double x) const { return Kokkos::abs(x); }
};

/// Links of each page to earlier ones. Every rank makes those of some pages.
sporos::Entries<double, 2> made_links(const Communicator& ranks, std::int64_t pages) {
  std::vector<std::pair<std::int64_t, std::int64_t>> links;
  for (std::int64_t page = 1 + ranks.rank(); page < pages; page += ranks.size()) {
    std::mt19937_64 draw(static_cast<std::uint64_t>(page));
    for (int link = 0; link < 4; ++link) {
      const double part = static_cast<double>(draw() % 1000) / 1000;
      links.emplace_back(page, static_cast<std::int64_t>(part * part * static_cast<double>(page)));
    }
  }
  sporos::Entries<double, 2> out({pages, pages}, std::ssize(links));
  for (std::int64_t e = 0; e < out.size(); ++e) {
    const auto [from, to] = links[static_cast<std::size_t>(e)];
    out.set(e, {from, to}, 1.0);
  }
  return out;
}

int run(const Communicator& ranks, int argc, char** argv) {
  const auto links = argc > 1 ? sporos::read_entries<double, 2>(ranks, argv[1]) : made_links(ranks, 20000);
  if (links.extents[0] != links.extents[1]) throw sporos::ShapeError("the matrix of a graph is square");
  // Rows are the pages to which links lead: a rank sums what its pages receive.
  sporos::Entries<double, 2> turned({links.extents[1], links.extents[0]}, links.size());
  for (std::int64_t e = 0; e < links.size(); ++e) {
    const auto [from, to] = links.coordinate(e);
    turned.set(e, {to, from}, 1.0);
  }
  const Graph A = sporos::assemble<sporos::CSR<>>(sporos::Distribution<2>::balanced(ranks, turned), turned,
                                                  sporos::Duplicates::max);
  const auto pages = along(A, 0);
  const auto n = static_cast<double>(A.extent(0));
  constexpr double damping = 0.85;

  const Vector links_of(pages), inverse(pages), dangles(pages), rank(pages), next(pages), share(pages);
  links_of(j) = A(i, j);  // the number of links of each page: a sum over all ranks' rows
  inverse(i) = map(sporos::everywhere(Inverse{}), links_of(i));
  dangles(i) = map(sporos::everywhere(IsZero{}), links_of(i));
  rank(i) = 1 / n;

  const Number lost, base, change;
  auto shares = plan(assign(share(j), rank(j) * inverse(j)));
  auto losses = plan(assign(lost(), rank(i) * dangles(i)));
  auto gather_shares = plan(assign(next(i), A(i, j) * share(j)).with_constant_operands());
  auto finish = plan(assign(next(i), damping * next(i) + base()));
  auto changes = plan(assign(change(), map(Magnitude{}, next(i) - rank(i))));
  auto take = plan(assign(rank(i), next(i)));

  int steps = 0;
  do {
    shares.run();
    losses.run();
    gather_shares.run();
    base.values()(0) = (1 - damping + damping * lost.values()(0)) / n;
    finish.run();
    changes.run();
    take.run();
    ++steps;
  } while (change.values()(0) > 1e-10 && steps < 200);

  const Number sum;
  sum() = rank(i);
  const auto ranking = gather(rank, 0);
  if (ranking) {
    const auto& values = ranking->values();
    std::size_t best = 0;
    for (std::size_t page = 1; page < values.extent(0); ++page)
      if (values(page) > values(best)) best = page;
    fmt::print("{} pages on {} ranks: {} steps; page {} is first with {:.6f}; the ranks add up to {:.12f}\n",
               values.extent(0), ranks.size(), steps, best, values(best), sum.values()(0));
  }
  return std::abs(sum.values()(0) - 1) < 1e-9 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const sporos::MpiScope mpi(argc, argv);
  const sporos::ScopeGuard guard(argc, argv);
  const auto ranks = Communicator::world();
  // An error on one rank, of any kind, becomes an error of all ranks.
  return sporos::run_jointly(ranks, [&] { return run(ranks, argc, argv); });
}

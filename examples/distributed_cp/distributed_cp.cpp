// SPDX-License-Identifier: Apache-2.0
/// @file distributed_cp.cpp
/// The CP decomposition of a tensor distributed over any number of ranks.
///
///     distributed_cp [tensor file] [rank]
///     mpirun -n 4 distributed_cp
///
/// Alternating least squares (als.hpp) from the same initial factors as in examples/cp_als. The tensor stays
/// where it is; only rows of the factors travel, and the sums that ranks contribute to rows of other owners.
/// First each rank has a brick of the tensor (S. Smith, G. Karypis, "A medium-grained algorithm for
/// distributed sparse tensor factorization", IPDPS 2016), then its nonzeros are dealt out one by one (O.
/// Kaya, B. Uçar, "Scalable sparse tensor decompositions in distributed memory systems", SC 2015): the same
/// statements run on both. Without a file, a tensor of rank 3 is made, which the decomposition has to
/// recover. In either case the fit must equal that of examples/cp_als on one process.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

#include "als.hpp"

namespace {

using sporos::Communicator;

/// A sum of products of the columns of three matrices, with all its values. Each rank makes some of them.
sporos::Entries<double, 3> made_tensor(const Communicator& ranks, int rank) {
  const sporos::Extents<3> extents{40, 30, 20};
  std::mt19937_64 bits(7);
  std::vector<cp::Matrix> factors;
  for (const std::int64_t extent : extents) factors.push_back(cp::random_matrix(extent, rank, bits));
  const auto mine = sporos::Partition::blocks(extents[0], ranks.size()).range(ranks.rank());
  sporos::Entries<double, 3> out(extents, mine.size() * extents[1] * extents[2]);
  for (std::int64_t e = 0; e < out.size(); ++e) {
    const sporos::Extents<3> c{mine.begin + e / (extents[1] * extents[2]), e / extents[2] % extents[1],
                               e % extents[2]};
    double value = 0;
    for (std::int64_t r = 0; r < rank; ++r) {
      double product = 1;
      for (std::size_t m = 0; m < 3; ++m) product *= 2 * sporos::at(factors[m], {c[m], r}) - 1;
      value += product;
    }
    out.set(e, c, value);
  }
  return out;
}

/// Decomposes a tensor and prints its fit. Returns whether that equals the fit on one process and is at least
/// `least`.
bool decompose(const std::string& name, const sporos::Entries<double, 3>& entries, int rank, double least,
               const Communicator& ranks) {
  cp::Options options;
  options.rank = rank;
  options.tolerance = 1e-7;
  options.iterations = 200;
  const auto bricks = sporos::Distribution<3>::bricks(ranks, entries.extents);
  const auto fine = sporos::Distribution<3>::fine_grained(ranks, entries);
  const cp::Model alone = cp::als(gather(sporos::assemble<sporos::CSF<3>>(bricks, entries)), options);
  bool is_right = true;
  for (const auto& distribution : {bricks, fine}) {
    const cp::Fit found = cp::als(sporos::assemble<sporos::CSF<3>>(distribution, entries), options);
    if (ranks.rank() == 0)
      fmt::print("{} on {} ranks, {}: fit {:.6f} after {} iterations; {:.6f} after {} on one process\n", name,
                 ranks.size(), distribution.str(), found.fit, found.iterations, alone.fits.back(),
                 alone.fits.size());
    is_right = is_right && std::abs(found.fit - alone.fits.back()) < 1e-5 && found.fit >= least;
  }
  return is_right;
}

int run(const Communicator& ranks, int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : SPOROS_EXAMPLE_DATA "/aminoacid.tns.gz";
  const int rank = argc > 2 ? std::atoi(argv[2]) : 3;
  bool is_right = true;
  if (argc <= 1) is_right = decompose("a tensor of rank 3", made_tensor(ranks, 3), 3, 0.9999, ranks);
  is_right = decompose(file.substr(file.rfind('/') + 1), sporos::read_entries<double, 3>(ranks, file), rank,
                       argc > 1 ? 0 : 0.9, ranks) &&
             is_right;
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

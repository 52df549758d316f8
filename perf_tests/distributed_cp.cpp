// SPDX-License-Identifier: Apache-2.0
/// @file distributed_cp.cpp
/// MTTKRP of all modes of a distributed tensor, and CP-ALS with it, on as many ranks as it is started with,
/// beside GenTen and Cyclops Tensor Framework.
///
///     OMP_NUM_THREADS=1 mpirun -n 2 perf_distributed_cp FILE.json [TENSOR.tns.gz...]
///
/// Tensors of order 3 in bricks, 16 columns: a made one of which a few slices have most nonzeros, and those
/// in files. A product includes what an iteration of CP-ALS has to send for it. CP-ALS is
/// examples/distributed_cp's, with the norms and the fit that GenTen computes as well; each time it also
/// makes its first factors, which GenTen is given.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../examples/distributed_cp/als.hpp"
#include "on_ranks.hpp"
#include "peers/cp_peer.hpp"
#include "shared_inputs.hpp"

namespace sporos::perf {
namespace {

constexpr int rank = 16, iterations = 5;

struct Peer {
  std::string name;
  std::shared_ptr<CpPeer> of;
};

std::vector<Peer> peers_of([[maybe_unused]] const Entries<double, 3>& all) {
  std::vector<Peer> out;
#if defined(SPOROS_HAVE_GENTEN) || defined(SPOROS_HAVE_CTF)
  CpInput input{all.extents, {}, {}, rank};
  for (std::int64_t e = 0; e < all.size(); ++e) {
    const auto at = all.coordinate(e);
    for (std::size_t mode = 0; mode < at.size(); ++mode) input.coordinates[mode].push_back(at[mode]);
    input.values.push_back(all.values(static_cast<std::size_t>(e)));
  }
#ifdef SPOROS_HAVE_GENTEN
  out.push_back({"genten", make_genten(input)});
#endif
#ifdef SPOROS_HAVE_CTF
  out.push_back({"ctf", make_ctf(input)});
#endif
#endif
  return out;
}

void measure(RankTimes& measured, const Communicator& ranks, const std::string& name,
             const Entries<double, 3>& entries) {
  const auto bricks = Distribution<3>::bricks(ranks, entries.extents);
  const AllModes ours(bricks, entries, rank);
  const auto T = assemble<CSF<3>>(bricks, entries);
  cp::Options options;
  options.rank = rank;
  options.iterations = iterations;
  options.tolerance = -1;
  const json about{{"nonzeros", total_nnz(T)}};
  json about_ours = about;
  about_ours["imbalance"] = ours.imbalance();
  const auto with = [&](std::string who, std::function<void()> call) {
    return RankContender{std::move(who), std::move(call), about};
  };
  std::vector<RankContender> decompositions{{"sporos", [&] { cp::als(T, options); }, about_ours}};
  about_ours["bytes sent"] = ours.bytes();
  std::vector<RankContender> products{{"sporos", [&] { ours.run(); }, about_ours}};
  const auto peers = peers_of(sporos::entries(gather(T)));
  ours.run();
  const auto expected = ours.sums();
  for (const Peer& peer : peers) {
    peer.of->multiply();
    const auto found = peer.of->sums();
    for (std::size_t mode = 0; ranks.rank() == 0 && mode < found.size(); ++mode)
      if (!(std::abs(found[mode] - expected[mode]) <= 1e-9 * std::abs(expected[mode])))
        throw InternalError(text(name, ": ", peer.name, " finds another sum of mode ", mode, ": ",
                                 found[mode], " instead of ", expected[mode]));
    products.push_back(with(peer.name, [of = peer.of] { of->multiply(); }));
    if (peer.of->decompose(1))
      decompositions.push_back(with(peer.name, [of = peer.of] { of->decompose(iterations); }));
  }
  measured.compare(name + ", MTTKRP of 3 modes", products);
  measured.compare(text(name, ", CP-ALS, ", iterations, " iterations"), decompositions);
}

int run(const Communicator& ranks, int argc, char** argv) {
  if (argc < 2) throw Error("usage: perf_distributed_cp FILE.json [TENSOR.tns.gz...]");
  RankTimes measured(ranks);
  measure(measured, ranks, "skewed",
          skewed_entries({14, 13, 12}, Partition::blocks(2'000'000, ranks.size()).range(ranks.rank())));
  for (int at = 2; at < argc; ++at) {
    const std::string file = argv[at], name = file_name(file);
    measure(measured, ranks, name.substr(0, name.find('.')), read_entries<double, 3>(ranks, file));
  }
  json context = context_of("distributed_cp", ranks, argc, argv);
#ifdef SPOROS_GENTEN_COMMIT
  context["genten"] = SPOROS_GENTEN_COMMIT;
#endif
#ifdef SPOROS_CTF_COMMIT
  context["ctf"] = SPOROS_CTF_COMMIT;
#endif
  measured.write(argv[1], context);
  return 0;
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
#ifdef SPOROS_HAVE_GENTEN
  const sporos::perf::GentenScope genten;
#endif
  const sporos::MpiScope mpi(argc, argv);
  const sporos::ScopeGuard guard(argc, argv);
  const auto ranks = sporos::Communicator::world();
  return sporos::run_jointly(ranks, [&] { return sporos::perf::run(ranks, argc, argv); });
}

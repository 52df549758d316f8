// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp.cpp
/// The matricised tensor times Khatri-Rao product, compared with SPLATT and the loop nest.
///
///     perf_mttkrp --threads 2 --json mttkrp_2_threads.json TENSOR.tns.gz...
///
/// Tensors of order 3 and 4 in compressed fibers, with R columns: a generated one with the extents of
/// FROSTT's NIPS (paper, author, word, year), and those in files. Empty slices are removed, as SPLATT does.
/// Two things are measured: the product of each mode with a tensor that has this mode outermost and the
/// others from the shortest to the longest (with SPLATT, tensors for all modes), and the products of the
/// inner modes with a single tensor whose modes go from the shortest to the longest (with SPLATT, one
/// tensor). Results are compared.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <sporos/sporos.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "matrices.hpp"

#ifdef SPOROS_HAVE_SPLATT
// The header is written for C and does not declare C linkage everywhere.
extern "C" {
#include <splatt.h>
}
#endif

namespace sporos::perf {
namespace {

using namespace sporos::indices;

using Factor = Tensor<double, DenseMatrix<>>;
template <int N>
using Factors = std::array<Factor, static_cast<std::size_t>(N)>;
template <int N>
using Modes = std::array<std::size_t, static_cast<std::size_t>(N)>;

/// The same entries without empty slices.
template <int N>
Entries<double, N> without_empty_slices(const Entries<double, N>& entries) {
  Extents<N> extents{};
  std::array<std::vector<std::int64_t>, static_cast<std::size_t>(N)> number;
  for (std::size_t mode = 0; mode < number.size(); ++mode) {
    const auto& coordinates = entries.coordinates[mode];
    number[mode].assign(static_cast<std::size_t>(entries.extents[mode]), 0);
    for (std::size_t at = 0; at < coordinates.extent(0); ++at)
      number[mode][static_cast<std::size_t>(coordinates(at))] = 1;
    std::exclusive_scan(number[mode].begin(), number[mode].end(), number[mode].begin(), std::int64_t{0});
    for (std::size_t at = 0; at < coordinates.extent(0); ++at)
      extents[mode] = std::max(extents[mode], number[mode][static_cast<std::size_t>(coordinates(at))] + 1);
  }
  Entries<double, N> out(extents, entries.size());
  for (std::int64_t at = 0; at < entries.size(); ++at) {
    auto coordinate = entries.coordinate(at);
    for (std::size_t mode = 0; mode < number.size(); ++mode)
      coordinate[mode] = number[mode][static_cast<std::size_t>(coordinate[mode])];
    out.set(at, coordinate, entries.values(static_cast<std::size_t>(at)));
  }
  return out;
}

/// A tensor similar to FROSTT's NIPS: 3 * 10^6 words of papers by authors in years. Every author of a paper
/// has all of its words; most papers have few words.
Entries<double, 4> papers() {
  const std::int64_t papers = 2482, authors = 2862, words = 14036, years = 17, nonzeros = 3'000'000;
  std::mt19937_64 random(13);
  const auto draw = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  // The probability of c falls with c: as 1 / sqrt(c) for power 2, as 1 / c^(2/3) for power 3.
  const auto skewed = [&](std::int64_t extent, double power) {
    return static_cast<std::int64_t>(static_cast<double>(extent) * std::pow(draw(), power));
  };
  std::vector<Extents<4>> list;
  for (std::int64_t paper = 0; paper < papers; ++paper) {
    const std::int64_t left = nonzeros - static_cast<std::int64_t>(list.size());
    const auto year = paper * years / papers;
    std::set<std::int64_t> by, of;
    const auto by_count = static_cast<std::size_t>(1 + skewed(4, 1.5));
    while (by.size() < by_count) by.insert(skewed(authors, 2));
    // Each paper takes about its share of what is left.
    const auto part = static_cast<double>(left) / static_cast<double>(papers - paper);
    const auto count = static_cast<std::size_t>((0.5 + draw()) * part / static_cast<double>(by_count));
    while (of.size() < std::min<std::size_t>(count, 9000)) of.insert(skewed(words, 3));
    for (const std::int64_t author : by)
      for (const std::int64_t word : of) list.push_back({paper, author, word, year});
  }
  Entries<double, 4> out({papers, authors, words, years}, static_cast<std::int64_t>(list.size()));
  for (std::size_t at = 0; at < list.size(); ++at)
    out.set(static_cast<std::int64_t>(at), list[at], 0.5 + draw());
  return out;
}

/// Modes in the order of their extents, shortest first, but with `first` before all of them if it is a mode.
template <int N>
Modes<N> shortest_first(const Extents<N>& extents, int first = -1) {
  Modes<N> out{};
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(), [&](std::size_t x, std::size_t y) {
    const auto key = [&](std::size_t mode) {
      return std::pair(static_cast<int>(mode) != first, extents[mode]);
    };
    return key(x) < key(y);
  });
  return out;
}

/// The tensor in compressed fibers, with its modes in another order.
template <int N>
Tensor<double, CSF<N>> fibers(const Entries<double, N>& entries, const Modes<N>& order) {
  auto turned = entries;
  for (std::size_t level = 0; level < order.size(); ++level) {
    turned.extents[level] = entries.extents[order[level]];
    turned.coordinates[level] = entries.coordinates[order[level]];
  }
  return assemble<CSF<N>>(turned);
}

/// The product of mode D of T with the factors of its other modes.
template <int N, int D, bool Generic>
void multiply(const Factor& M, const Tensor<double, CSF<N>>& T, const Factors<N>& U) {
  const auto run = [](const auto& statement) {
    if constexpr (Generic)
      statement.generic().run();
    else
      statement.run();
  };
  if constexpr (N == 3) {
    if constexpr (D == 0) run(assign(M(i, r), T(i, k, l) * U[1](k, r) * U[2](l, r)));
    if constexpr (D == 1) run(assign(M(k, r), T(i, k, l) * U[0](i, r) * U[2](l, r)));
    if constexpr (D == 2) run(assign(M(l, r), T(i, k, l) * U[0](i, r) * U[1](k, r)));
  } else {
    if constexpr (D == 0) run(assign(M(i, r), T(i, k, l, m) * U[1](k, r) * U[2](l, r) * U[3](m, r)));
    if constexpr (D == 1) run(assign(M(k, r), T(i, k, l, m) * U[0](i, r) * U[2](l, r) * U[3](m, r)));
    if constexpr (D == 2) run(assign(M(l, r), T(i, k, l, m) * U[0](i, r) * U[1](k, r) * U[3](m, r)));
    if constexpr (D == 3) run(assign(M(m, r), T(i, k, l, m) * U[0](i, r) * U[1](k, r) * U[2](l, r)));
  }
}

#ifdef SPOROS_HAVE_SPLATT
/// SPLATT with its default options, except for the number of tensors that it makes.
template <int N>
class Splatt {
 public:
  Splatt(const Entries<double, N>& entries, splatt_csf_type made, int threads)
      : options_(splatt_default_opts(), splatt_free_opts) {
    options_.get()[SPLATT_OPTION_CSF_ALLOC] = made;
    options_.get()[SPLATT_OPTION_NTHREADS] = threads;
    options_.get()[SPLATT_OPTION_VERBOSITY] = SPLATT_VERBOSITY_NONE;
    const auto count = static_cast<std::size_t>(entries.size());
    // SPLATT sorts its input into arrays of its own and frees the arrays that it was given: new arrays of
    // coordinates are returned in their place, but not those of values.
    std::array<splatt_idx_t*, static_cast<std::size_t>(N)> coordinates{};
    for (std::size_t mode = 0; mode < coordinates.size(); ++mode) {
      coordinates[mode] = static_cast<splatt_idx_t*>(std::malloc(count * sizeof(splatt_idx_t)));
      std::copy_n(entries.coordinates[mode].data(), count, coordinates[mode]);
    }
    auto* const values = static_cast<double*>(std::malloc(count * sizeof(double)));
    std::copy_n(entries.values.data(), count, values);
    splatt_csf* tensors = nullptr;
    if (splatt_csf_convert(N, static_cast<splatt_idx_t>(count), coordinates.data(), values, &tensors,
                           options_.get()) != SPLATT_SUCCESS)
      throw StateError("SPLATT cannot convert the tensor");
    for (splatt_idx_t* const mode : coordinates) std::free(mode);
    tensors_ = {tensors, [options = options_](splatt_csf* all) { splatt_free_csf(all, options.get()); }};
  }

  void multiply(std::size_t mode, const Factor& M, const Factors<N>& factors) const {
    std::array<double*, static_cast<std::size_t>(N)> matrices{};
    for (std::size_t at = 0; at < matrices.size(); ++at) matrices[at] = factors[at].values().data();
    if (splatt_mttkrp(static_cast<splatt_idx_t>(mode), static_cast<splatt_idx_t>(M.extent(1)), tensors_.get(),
                      matrices.data(), M.values().data(), options_.get()) != SPLATT_SUCCESS)
      throw StateError("SPLATT cannot multiply");
  }

 private:
  std::shared_ptr<double> options_;
  std::shared_ptr<splatt_csf> tensors_;
};
#endif

/// @throws StateError if two sums of positive products differ by more than their order explains
void expect_same(const std::string& who, const Factor& expected, const Factor& found) {
  for (std::size_t at = 0; at < expected.values().extent(0); ++at)
    if (!(std::abs(found.values()(at) - expected.values()(at)) <= 1e-11 * expected.values()(at)))
      throw StateError(text(who, " computes another product: ", found.values()(at), " at ", at,
                            " instead of ", expected.values()(at)));
}

/// One product: mode D of a tensor whose modes are in the order `order`, made for SPLATT as `made`.
template <int D, int N, class Peer>
void product(Report& report, const std::string& name, const std::string& kind, std::int64_t columns,
             const Tensor<double, CSF<N>>& T, const Modes<N>& order, const Factors<N>& factors,
             [[maybe_unused]] const Peer& peer) {
  const std::string full = text(name, ", R = ", columns);
  if (!report.wants(full)) return;
  Factors<N> turned;
  for (std::size_t level = 0; level < order.size(); ++level) turned[level] = factors[order[level]];
  const auto made = [&] { return Factor({T.extent(D), columns}); };
  const Factor ours = made(), nest = made();
  const auto by_sporos = [=] { multiply<N, D, false>(ours, T, turned); };
  const auto by_nest = [=] { multiply<N, D, true>(nest, T, turned); };
  std::vector<Contender> contenders{{"sporos", Role::ours, by_sporos}, {"nest", Role::variant, by_nest}};
  by_nest();
  by_sporos();
  expect_same(text(full, ": sporos"), nest, ours);
#ifdef SPOROS_HAVE_SPLATT
  const Factor theirs = made();
  const auto by_splatt = [=, mode = order[static_cast<std::size_t>(D)]] {
    peer.multiply(mode, theirs, factors);
  };
  contenders.emplace_back("splatt", Role::peer, by_splatt);
  by_splatt();
  expect_same(text(full, ": splatt"), nest, theirs);
#endif
  report.compare({full,
                  {{"tensor", sporos::to_string(T.extents())},
                   {"nnz", T.nnz()},
                   {"columns", columns},
                   {"level", D},
                   {"values", value_name<double>()},
                   {"coordinate_bits", 32}},
                  kind},
                 contenders);
}

template <int D, int N, class Peer>
void inner_modes(Report& report, const std::string& name, std::int64_t columns,
                 const Tensor<double, CSF<N>>& T, const Modes<N>& order, const Factors<N>& factors,
                 const Peer& peer) {
  product<D, N>(report, text(name, ", level ", D, " of one"), "inner modes", columns, T, order, factors,
                peer);
  if constexpr (D + 1 < N) inner_modes<D + 1, N>(report, name, columns, T, order, factors, peer);
}

template <int N>
void products(Report& report, const std::string& name, const Entries<double, N>& all) {
  // Duplicates are merged first, since both libraries compute with one entry per coordinate.
  const auto entries = without_empty_slices(sporos::entries(assemble<CSF<N>>(all, Duplicates::sum)));
#ifdef SPOROS_HAVE_SPLATT
  const int threads = report.options().threads;
  const Splatt<N> of_all(entries, SPLATT_CSF_ALLMODE, threads), of_one(entries, SPLATT_CSF_ONEMODE, threads);
#else
  const int of_all = 0, of_one = 0;
#endif
  std::vector<Tensor<double, CSF<N>>> tensors;
  for (int mode = 0; mode < N; ++mode)
    tensors.push_back(fibers(entries, shortest_first<N>(entries.extents, mode)));
  const auto ascending = shortest_first<N>(entries.extents);
  for (const std::int64_t columns : {16, 32, 64}) {
    Factors<N> factors;
    for (std::size_t mode = 0; mode < factors.size(); ++mode)
      factors[mode] = dense<DenseMatrix<>>({entries.extents[mode], columns}, static_cast<unsigned>(mode + 1));
    for (int mode = 0; mode < N; ++mode)
      product<0, N>(report, text(name, ", mode ", mode), "outermost modes", columns,
                    tensors[static_cast<std::size_t>(mode)], shortest_first<N>(entries.extents, mode),
                    factors, of_all);
    inner_modes<1, N>(report, name, columns, tensors[ascending[0]], ascending, factors, of_one);
  }
}

void run(Report& report) {
#ifdef SPOROS_HAVE_SPLATT
  report.about("splatt", text(SPLATT_VER_MAJOR, '.', SPLATT_VER_MINOR, '.', SPLATT_VER_SUBMINOR, ", commit ",
                              SPOROS_SPLATT_COMMIT, ", ", SPLATT_IDX_TYPEWIDTH, "-bit indices"));
#endif
  products(report, "papers", papers());
  for (const auto& file : report.options().files) {
    const int order = inspect(file).order;
    if (order == 3)
      products(report, matrix_name(file), read_entries<double, 3>(file));
    else if (order == 4)
      products(report, matrix_name(file), read_entries<double, 4>(file));
    else
      throw FormatError(text(file_name(file), " is of order ", order, ": give tensors of order 3 or 4"));
  }
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
  return sporos::perf::benchmark(argc, argv, "mttkrp", sporos::perf::run, {sporos::perf::Memory::retained});
}

// SPDX-License-Identifier: Apache-2.0
/// @file distributed_gpus.cpp
/// SpMM and CP-ALS on one GPU and on several of a host, one rank for each: weak and strong scaling, by each
/// transport, with the local part and the exchange of values apart, beside NCCL's own collectives.
///
///     mpirun -n 2 perf_distributed_gpus FILE.json [scale]     # scale 1: 80 GB of memory on each GPU suffice
///
/// The first 1, 2, 4, … ranks run each case on a communicator of their own. Weak: the work of a rank is that
/// of one rank alone; strong: all together have it. A time is that of the slowest rank, from one barrier to
/// where its GPU is through, of several runs in a row, divided by their number; contenders take turns, round
/// by round. Sums over each result must be those of one rank.
///
/// Contenders, beside the plan of the statement by each transport that is there:
///
///     local part   the same statement on what the rank has, as if all that it needs were there
///     exchange     the values that the statement sends, sent by themselves (SpMM)
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "shared_inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using perf::json;

using Csr = CSR<>;
using LocalMatrix = Tensor<double, DenseMatrix<>, Cuda>;
using Matrix = Distributed<LocalMatrix>;
using Sparse = Distributed<Tensor<double, Csr, Cuda>>;
using Cube = Distributed<Tensor<double, COO<3>, Cuda>>;
using Number = Tensor<double, Scalar, Cuda>;  // on every rank

constexpr int rounds = 11;
constexpr std::int64_t width = 128;  // columns of the dense operand of SpMM
constexpr std::int64_t rank = 32;    // of the decomposition

/// Runs in a row: fewer where messages pass through the host and take long.
constexpr int runs_by(Transport transport) { return transport == Transport::staged ? 1 : 4; }

constexpr Transport transports[] = {Transport::nccl, Transport::mpi, Transport::staged};

/// What is measured: one call is `runs` runs.
struct Contender {
  std::string name;
  int runs;
  std::function<void()> run;
  json more = json::object();  ///< what else is recorded
};

/// A case on some ranks.
struct Case {
  std::string name, scaling;
  Communicator ranks;
  json facts;
};

class Measurements {
 public:
  explicit Measurements(bool prints) : prints_(prints) {}

  void compare(const Case& of, const std::vector<Contender>& contenders) {
    std::vector<std::vector<double>> seconds(contenders.size());
    for (int round = -1; round < rounds; ++round)  // the first one warms up
      for (std::size_t at = 0; at < contenders.size(); ++at) {
        // In another order in each round: caches remember who came before.
        const std::size_t c = (at + static_cast<std::size_t>(round + 1)) % contenders.size();
        Kokkos::fence();
        of.ranks.barrier();
        const auto begin = std::chrono::steady_clock::now();
        for (int run = 0; run < contenders[c].runs; ++run) contenders[c].run();
        Kokkos::fence();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        const double slowest = of.ranks.max(taken.count()) / contenders[c].runs;
        if (round >= 0) seconds[c].push_back(slowest);
      }
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      auto& all = seconds[c];
      std::sort(all.begin(), all.end());
      json record{{"case", of.name},
                  {"scaling", of.scaling},
                  {"ranks", of.ranks.size()},
                  {"contender", contenders[c].name},
                  {"seconds", all[all.size() / 2]},
                  {"least", all.front()},
                  {"quartiles", {all[all.size() / 4], all[3 * all.size() / 4]}}};
      record.update(of.facts);
      record.update(contenders[c].more);
      if (prints_)
        std::printf("%-20s %-6s %d ranks  %-22s %10.3f ms  (%.3f to %.3f)  %s\n", of.name.c_str(),
                    of.scaling.c_str(), of.ranks.size(), contenders[c].name.c_str(),
                    1e3 * all[all.size() / 2], 1e3 * all[all.size() / 4], 1e3 * all[3 * all.size() / 4],
                    contenders[c].more.empty() ? "" : contenders[c].more.dump().c_str());
      std::fflush(stdout);
      records_.push_back(std::move(record));
    }
  }

  /// Compares numbers with those that one rank has found for the same input.
  void expect_same(const Case& of, const std::vector<double>& numbers) {
    auto& first = known_[of.name + " " + of.facts["input"].get<std::string>()];
    if (first.empty()) first = numbers;
    for (std::size_t at = 0; at < numbers.size(); ++at)
      if (!(std::abs(numbers[at] - first[at]) <= 1e-10 * std::abs(first[at])))
        throw InternalError(
            text(of.name, " on ", of.ranks.size(), " ranks: ", numbers[at], ", not ", first[at]));
  }

  const json& records() const { return records_; }

 private:
  bool prints_;
  json records_ = json::array();
  std::map<std::string, std::vector<double>> known_;
};

/// values[at] = a number that follows from the row and the column.
struct Fill {
  double* values;
  std::int64_t first_row, columns, salt;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    values[at] = perf::value_at(first_row + at / columns + salt, at % columns);
  }
};

/// Rows [first_row, …) of a dense matrix, the same whoever makes them.
void fill(const LocalMatrix& rows, std::int64_t first_row, std::int64_t salt) {
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(0, rows.nnz()),
                       Fill{rows.values().data(), first_row, rows.extent(1), salt});
}

Matrix filled(const Communicator& ranks, std::int64_t rows, std::int64_t columns, std::int64_t salt) {
  const Matrix out(Distribution<2>::blocks(ranks, {rows, columns}));
  fill(out.local(), out.distribution().partition(0).range(ranks.rank()).begin, salt);
  return out;
}

/// Bytes that the rank which receives most receives in one run.
template <class S>
std::int64_t received(const S& statement) {
  std::int64_t most = 0;
  for (const RankTraffic& one : traffic(statement).ranks) most = std::max(most, one.received);
  return most;
}

double number(const Number& of) { return at(of.copy_to<Host>(), {}); }

/// The transports that the ranks can use; none matters for one rank.
std::vector<Transport> transports_of(const Communicator& ranks) {
  std::vector<Transport> out;
  for (const Transport one : transports) {
    if (ranks.size() == 1 && one != Transport::staged) continue;
    try {
      use_transport(ranks, one);
      out.push_back(one);
    } catch (const StateError&) {  // on all ranks
    }
  }
  return out;
}
std::string name_of(const Communicator& ranks, Transport transport) {
  return ranks.size() == 1 ? "one GPU" : std::string(to_string(transport));
}

/// The rows of a dense operand that the columns of A name and other ranks own, exchanged by themselves.
std::shared_ptr<detail::ValueExchange<double, Cuda>> exchange_of(const Sparse& A, const Partition& rows) {
  const Communicator& ranks = A.ranks();
  const Bounds own = rows.range(ranks.rank());
  const auto columns =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.local().level<1>().coordinates);
  detail::CoordinateSet found(A.extent(1), A.nnz());
  for (std::size_t q = 0; q < columns.extent(0); ++q)
    if (columns(q) < own.begin || columns(q) >= own.end) found.add(columns(q));
  const auto wanted = found.take();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks.size()));
  for (const std::int64_t row : wanted) ++counts[static_cast<std::size_t>(rows.owner(row))];
  auto asked = detail::exchange(ranks, wanted, counts, "the rows that are needed");
  for (std::int64_t& row : asked.items) row -= own.begin;
  return std::make_shared<detail::ValueExchange<double, Cuda>>(ranks, width, asked.items, asked.counts,
                                                               counts);
}

/// Y(i, k) = A(i, j) * X(j, k).
void measure_spmm(Measurements& measured, Case of, const Sparse& A) {
  const Communicator& ranks = of.ranks;
  const Matrix X = filled(ranks, A.extent(1), width, 0),
               Y(Distribution<2>::blocks(ranks, {A.extent(0), width}));
  const Matrix weights = filled(ranks, A.extent(0), width, 77);
  const LocalMatrix all_of_X({A.extent(1), width});
  fill(all_of_X, 0, 0);
  of.facts["rows"] = A.extent(0);
  of.facts["nonzeros"] = total_nnz(A);
  const auto statement = assign(Y(i, k), A(i, j) * X(j, k));
  of.facts["bytes_received"] = received(statement);
  of.facts["imbalance"] = traffic(statement).imbalance();

  std::vector<Contender> contenders;
  for (const Transport one : transports_of(ranks)) {
    use_transport(ranks, one);
    const auto product = std::make_shared<decltype(plan(statement))>(plan(statement));
    contenders.push_back({name_of(ranks, one), runs_by(one), [product] { product->run(); }});
    Kokkos::deep_copy(Y.local().values(), -1.0);
    product->run();
    const Number square, sum;
    square() = Y(i, k) * Y(i, k);
    sum() = Y(i, k) * weights(i, k);
    measured.expect_same(of, {number(square), number(sum)});
    if (ranks.size() == 1) continue;
    const auto exchange = exchange_of(A, X.distribution().partition(0));
    contenders.push_back(
        {"exchange by " + name_of(ranks, one), runs_by(one), [exchange, values = X.local().values()] {
           exchange->start(Cuda(), values);
           exchange->finish(Cuda());
         }});
  }
  const auto local = assign(Y.local()(i, k), A.local()(i, j) * all_of_X(j, k));
  const auto alone = std::make_shared<decltype(plan(local))>(plan(local));
  if (ranks.size() > 1) contenders.push_back({"local part", 4, [alone] { alone->run(); }});
  measured.compare(of, contenders);
}

Sparse grid(const Communicator& ranks, std::int64_t side, std::int64_t planes) {
  const std::int64_t plane = side * side, n = plane * planes;
  std::vector<std::int64_t> begins;
  for (int r = 0; r <= ranks.size(); ++r) begins.push_back(n * r / ranks.size());
  const auto D = Distribution<2>::blocks(ranks, {n, n});
  const Bounds mine = D.partition(0).range(ranks.rank());
  if (mine.begin % plane != 0 || mine.end % plane != 0)
    throw ShapeError("a grid is divided into whole planes: take a number of planes that the ranks divide");
  auto rows = perf::grid_rows(side, planes, {mine.begin / plane, mine.end / plane});
  return {D, wrap<Csr, Host>(trusted, {mine.size(), n}, std::ssize(rows.columns), rows.positions.data(),
                             rows.columns.data(), rows.values.data())
                 .copy_to<Cuda>()};
}

Sparse rmat(const Communicator& ranks, int scale, std::int64_t edges) {
  const Bounds mine = Partition::blocks(edges, ranks.size()).range(ranks.rank());
  const auto entries = perf::rmat_entries(scale, mine);
  return assemble<Csr, Cuda>(Distribution<2>::blocks(ranks, entries.extents), entries);
}

/// The inverse of a positive definite matrix, by Gauss and Jordan's elimination.
std::vector<double> inverse(std::vector<double> a) {
  const auto n = static_cast<std::size_t>(rank);
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = 1 / a[k * n + k];
    a[k * n + k] = 1;
    for (std::size_t c = 0; c < n; ++c) a[k * n + c] *= pivot;
    for (std::size_t r = 0; r < n; ++r) {
      if (r == k) continue;
      const double factor = a[r * n + k];
      a[r * n + k] = 0;
      for (std::size_t c = 0; c < n; ++c) a[r * n + c] -= factor * a[k * n + c];
    }
  }
  return a;
}

/// The decomposition of a tensor by alternating least squares, as in examples/distributed_cp, in the memory
/// of GPUs; the columns of the factors keep their lengths.
class CpAls {
 public:
  explicit CpAls(const Cube& T) : T_(T) {
    const Communicator& ranks = T.ranks();
    for (int mode = 0; mode < 3; ++mode) {
      F_.push_back(filled(ranks, T.extent(mode), rank, 1000003 * (mode + 1)));
      M_.emplace_back(F_.back().distribution());
      G_.emplace_back(Extents<2>{rank, rank});
      P_.emplace_back(Extents<2>{rank, rank});
    }
    keep(product_[0], assign(M_[0](i, r), T(i, k, l) * F_[1](k, r) * F_[2](l, r)));
    keep(product_[1], assign(M_[1](k, r), T(i, k, l) * F_[0](i, r) * F_[2](l, r)));
    keep(product_[2], assign(M_[2](l, r), T(i, k, l) * F_[0](i, r) * F_[1](k, r)));
    for (std::size_t m = 0; m < 3; ++m) {
      keep(solve_[m], assign(F_[m](i, r), M_[m](i, s) * P_[m](s, r)));
      keep(gram_[m], assign(G_[m](r, s), F_[m](i, r) * F_[m](i, s)));
      gram_[m]();
    }
  }

  /// One iteration: each factor in turn.
  void run() {
    for (std::size_t m = 0; m < 3; ++m) {
      product_[m]();
      take_inverse(m);
      solve_[m]();
      gram_[m]();
    }
  }
  void run_product(int mode) { product_[static_cast<std::size_t>(mode)](); }
  /// |M|^2 of the model after iterations, and <T, M> with it.
  std::vector<double> numbers() {
    const Number inner, square;
    inner() = M_[2](l, r) * F_[2](l, r);
    square() = G_[0](r, s) * G_[1](r, s) * G_[2](r, s);
    return {number(square), number(inner)};
  }
  std::int64_t bytes_received(int mode) const {
    if (mode == 0) return received(assign(M_[0](i, r), T_(i, k, l) * F_[1](k, r) * F_[2](l, r)));
    if (mode == 1) return received(assign(M_[1](k, r), T_(i, k, l) * F_[0](i, r) * F_[2](l, r)));
    return received(assign(M_[2](l, r), T_(i, k, l) * F_[0](i, r) * F_[1](k, r)));
  }

 private:
  template <class S>
  static void keep(std::function<void()>& step, const S& statement) {
    const auto kept = std::make_shared<decltype(plan(statement))>(plan(statement));
    step = [kept] { kept->run(); };
  }
  /// P[m] = the inverse of the other Gram matrices' product, value by value.
  void take_inverse(std::size_t m) {
    std::vector<double> both(static_cast<std::size_t>(rank * rank), 1.0);
    for (std::size_t other = 0; other < 3; ++other) {
      if (other == m) continue;
      const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), G_[other].values());
      for (std::size_t q = 0; q < both.size(); ++q) both[q] *= here(q);
    }
    const auto solved = inverse(std::move(both));
    Kokkos::deep_copy(P_[m].values(), HostArray<const double>(solved.data(), solved.size()));
  }

  Cube T_;
  std::vector<Matrix> F_, M_;
  std::vector<LocalMatrix> G_, P_;
  std::function<void()> product_[3], solve_[3], gram_[3];
};

/// MTTKRP of each mode on what a rank has, with factors that are all there.
class LocalProducts {
 public:
  explicit LocalProducts(const Cube& T) {
    const auto& t = T.local();
    for (int mode = 0; mode < 3; ++mode) {
      F_.emplace_back(Extents<2>{t.extent(mode), rank});
      M_.emplace_back(F_.back().extents());
      fill(F_.back(), 0, mode);
    }
    keep(0, assign(M_[0](i, r), t(i, k, l) * F_[1](k, r) * F_[2](l, r)));
    keep(1, assign(M_[1](k, r), t(i, k, l) * F_[0](i, r) * F_[2](l, r)));
    keep(2, assign(M_[2](l, r), t(i, k, l) * F_[0](i, r) * F_[1](k, r)));
  }
  void run(int mode) { product_[mode](); }

 private:
  template <class S>
  void keep(int mode, const S& statement) {
    const auto kept = std::make_shared<decltype(plan(statement))>(plan(statement));
    product_[mode] = [kept] { kept->run(); };
  }
  std::vector<LocalMatrix> F_, M_;
  std::function<void()> product_[3];
};

void measure_cp(Measurements& measured, Case of, const std::array<int, 3>& bits, std::int64_t nonzeros) {
  const Communicator& ranks = of.ranks;
  const auto entries =
      perf::skewed_entries(bits, Partition::blocks(nonzeros, ranks.size()).range(ranks.rank()));
  const Cube T = assemble<COO<3>, Cuda>(Distribution<3>::bricks(ranks, entries.extents), entries);
  of.facts["nonzeros"] = total_nnz(T);
  of.facts["imbalance"] =
      static_cast<double>(ranks.max(T.nnz())) * ranks.size() / static_cast<double>(total_nnz(T));
  std::vector<std::vector<Contender>> products(3);
  std::vector<Contender> iterations;
  for (const Transport one : transports_of(ranks)) {
    use_transport(ranks, one);
    const auto als = std::make_shared<CpAls>(T);
    for (int iteration = 0; iteration < 2; ++iteration) als->run();
    measured.expect_same(of, als->numbers());
    iterations.push_back({name_of(ranks, one), 1, [als] { als->run(); }});
    for (int mode = 0; mode < 3; ++mode)
      products[static_cast<std::size_t>(mode)].push_back({name_of(ranks, one),
                                                          3,
                                                          [als, mode] { als->run_product(mode); },
                                                          {{"bytes_received", als->bytes_received(mode)}}});
  }
  const auto local = std::make_shared<LocalProducts>(T);
  if (ranks.size() > 1)
    for (int mode = 0; mode < 3; ++mode)
      products[static_cast<std::size_t>(mode)].push_back(
          {"local part", 3, [local, mode] { local->run(mode); }});
  measured.compare(of, iterations);
  for (int mode = 0; mode < 3; ++mode) {
    Case one = of;
    one.name = text("MTTKRP, mode ", mode);
    measured.compare(one, products[static_cast<std::size_t>(mode)]);
  }
}

/// What NCCL's own collectives and copies of GPUs take, for each number of bytes.
void measure_links(Measurements& measured, const Communicator& ranks) {
#ifdef SPOROS_HAVE_NCCL
  const auto link = detail::DeviceLink::of(ranks);
  if (link->transport() != Transport::nccl) return;
  for (const std::int64_t bytes :
       {std::int64_t{1} << 10, std::int64_t{1} << 20, std::int64_t{1} << 24, std::int64_t{1} << 28}) {
    const auto from = make_array<double, Cuda::memory_space>("from", bytes / 8);
    const auto to = make_array<double, Cuda::memory_space>("to", bytes / 8);
    Kokkos::parallel_for(Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(0, bytes / 8),
                         Fill{from.data(), 0, 64, 5});
    const auto count = static_cast<std::size_t>(bytes / 8);
    const int next = (ranks.rank() + 1) % ranks.size(),
              last = (ranks.rank() + ranks.size() - 1) % ranks.size();
    const auto stream = link->stream().get();
    const auto expect = [](ncclResult_t code) { detail::expect_success(code, "NCCL"); };
    const auto record = [&](const char* name, std::int64_t moved) {
      return json{{"bytes", bytes}, {"bytes_on_a_link", moved}, {"operation", name}};
    };
    const std::int64_t p = ranks.size();
    measured.compare(
        {"NCCL", "links", ranks, json{{"input", ""}}},
        {{"all-reduce", 4,
          [=] {
            expect(ncclAllReduce(from.data(), to.data(), count, ncclFloat64, ncclSum, link->nccl(), stream));
          },
          record("all-reduce", 2 * bytes * (p - 1) / p)},
         {"all-gather", 4,
          [=] {
            expect(ncclAllGather(from.data(), to.data(), count / static_cast<std::size_t>(p), ncclFloat64,
                                 link->nccl(), stream));
          },
          record("all-gather", bytes * (p - 1) / p)},
         {"send and receive", 4,
          [=] {
            expect(ncclGroupStart());
            expect(ncclRecv(to.data(), count, ncclFloat64, last, link->nccl(), stream));
            expect(ncclSend(from.data(), count, ncclFloat64, next, link->nccl(), stream));
            expect(ncclGroupEnd());
          },
          record("send and receive", bytes)}});
  }
#endif
}

/// All cases on the ranks of a communicator.
void measure(Measurements& measured, const Communicator& ranks, int scale) {
  const std::int64_t p = ranks.size();
  int doublings = 0;
  while (std::int64_t{1} << doublings < p) ++doublings;
  const std::int64_t side = 128, planes = std::int64_t{128} << scale;
  const int log_rows = 19 + scale, log_edges = 24 + scale;
  for (const bool is_weak : {true, false}) {
    if (p == 1 && !is_weak) continue;  // the same
    const int more = is_weak ? doublings : 0;
    const std::string scaling = p == 1 ? "one" : is_weak ? "weak" : "strong";
    const auto one = [&](const std::string& name) {
      return Case{name, scaling, ranks, {{"input", text("size ", 1 << more)}}};
    };
    measure_spmm(measured, one("SpMM, grid"), grid(ranks, side, planes << more));
    measure_spmm(measured, one("SpMM, R-MAT"),
                 rmat(ranks, log_rows + more, std::int64_t{1} << (log_edges + more)));
    measure_cp(measured, one("CP-ALS"), {18 + scale + more, 17 + scale, 16 + scale},
               std::int64_t{1} << (24 + scale + more));
  }
  if (p > 1) {
    use_transport(ranks, transports_of(ranks).front());
    measure_links(measured, ranks);
  }
}

json context(int argc, char** argv, const Communicator& ranks) {
  cudaDeviceProp device{};
  cudaGetDeviceProperties(&device, Cuda().cuda_device());
  int driver = 0, runtime = 0, length = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  MPI_Get_library_version(library, &length);
  const std::string mpi(library, static_cast<std::size_t>(length));
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  std::string command = text("mpirun -n ", ranks.size());
  for (int at = 0; at < argc; ++at) command += text(' ', perf::file_name(argv[at]));
  json out{
      {"subject", "distributed_gpus"},
      {"date", date},
      {"command", command},
      {"ranks", ranks.size()},
      {"machine", device.name},
      {"processor", perf::system_line("/proc/cpuinfo", "model name")},
      {"cuda_driver", driver},
      {"cuda_runtime", runtime},
      {"mpi", mpi.substr(0, mpi.find(','))},
      {"mpi_reaches_gpus", Communicator::reaches<Kokkos::CudaSpace>()},
      {"compiler", perf::compiler()},
      {"kokkos", text(KOKKOS_VERSION / 10000, '.', KOKKOS_VERSION / 100 % 100, '.', KOKKOS_VERSION % 100)},
      {"columns", width},
      {"rank", rank},
      {"rounds", rounds}};
#ifdef SPOROS_HAVE_NCCL
  int version = 0;
  ncclGetVersion(&version);
  out["nccl"] = text(version / 10000, '.', version / 100 % 100, '.', version % 100);
#endif
  return out;
}

int run(const Communicator& world, int argc, char** argv) {
  if (argc < 2) throw Error("usage: perf_distributed_gpus FILE.json [scale]");
  const int scale = argc > 2 ? std::atoi(argv[2]) : 1;
  Measurements measured(world.rank() == 0);
  for (int size = 1; size <= world.size(); size *= 2) {
    const bool takes_part = world.rank() < size;
    const Communicator ranks = world.split(takes_part ? 0 : 1);
    if (takes_part) measure(measured, ranks, scale);
    agree(world, "the next number of ranks");
  }
  if (world.rank() != 0) return 0;
  std::ofstream out(argv[1]);
  out << json{{"context", context(argc, argv, world)}, {"benchmarks", measured.records()}}.dump(1) << '\n';
  if (!out.flush()) throw IoError(argv[1], "cannot be written");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const MpiScope mpi(argc, argv);
  const ScopeGuard guard(argc, argv);
  const auto world = Communicator::world();
  return run_jointly(world, [&] { return run(world, argc, argv); });
}

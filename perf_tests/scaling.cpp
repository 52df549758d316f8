// SPDX-License-Identifier: Apache-2.0
/// @file scaling.cpp
/// What products of a sparse matrix with a vector, and with itself, would send on 10 to 10^4 ranks, and how
/// long the former would take: docs/scaling.md.
///
///     OMP_NUM_THREADS=1 mpirun -n 2 perf_scaling FILE.json [matrix.mtx.gz …]
///
/// The messages are counted: who owns what follows from the partitions that distributions use, for any number
/// of parts. The time is that of the slowest rank in a model in which a message of b bytes takes
/// alpha + beta b, a nonzero takes gamma, an agreement alpha log2(ranks), and nothing overlaps. Alpha and
/// beta are measured by messages to and fro between ranks 0 and 1, gamma by local products on all ranks at a
/// time. On the ranks with which it runs, the program also measures the product and compares it with the
/// model.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "matrices.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using perf::json;

using Matrix = Tensor<double, CSR<>>;
using Vector = Distributed<Tensor<double, DenseVector>>;

/// The times of the model, in seconds.
struct Machine {
  double alpha = 0;  ///< of a message
  double beta = 0;   ///< of a byte
};

/// The median time of a step that all ranks take together, by the slowest of them.
double measured(const Communicator& ranks, int rounds, const std::function<void()>& step) {
  std::vector<double> seconds;
  step();
  for (int round = 0; round < rounds; ++round) {
    ranks.barrier();
    const auto begin = std::chrono::steady_clock::now();
    step();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    seconds.push_back(ranks.max(taken.count()));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// The time of one message of some bytes: half of that of one to rank 1 and back.
double message(const Communicator& ranks, std::int64_t bytes) {
  const int repeats = bytes < 100000 ? 200 : 10;
  std::vector<char> buffer(static_cast<std::size_t>(bytes));
  const auto once = [&](bool sends) {
    Requests requests;
    if (sends)
      ranks.send(requests, buffer.data(), bytes, 1 - ranks.rank(), {});
    else
      ranks.receive(requests, buffer.data(), bytes, 1 - ranks.rank(), {});
    requests.wait();
  };
  return measured(ranks, 21,
                  [&] {
                    if (ranks.rank() > 1) return;
                    for (int repeat = 0; repeat < repeats; ++repeat) {
                      once(ranks.rank() == 0);
                      once(ranks.rank() == 1);
                    }
                  }) /
         (2 * repeats);
}

Machine measure_messages(const Communicator& ranks) {
  if (ranks.size() == 1) return {};
  constexpr std::int64_t small = 8, large = 1 << 20;
  const double alpha = message(ranks, small);
  return {alpha, (message(ranks, large) - alpha) / static_cast<double>(large - small)};
}

/// Who owns what of a square matrix A and of the vectors of y(i) = A(i, j) * x(j).
struct Owners {
  std::string name;
  std::int64_t ranks = 1;
  Partition rows, columns;  ///< of the matrix
  Partition vectors;        ///< of x and y
  int columns_of_grid = 1;

  std::int64_t of_nonzero(std::int64_t row, std::int64_t column) const {
    return static_cast<std::int64_t>(rows.owner(row)) * columns_of_grid + columns.owner(column);
  }
};

std::vector<Owners> all_owners(const Matrix& matrix, int ranks) {
  const std::int64_t n = matrix.extent(0);
  const auto whole = Partition::whole(n);
  const auto blocks = Partition::blocks(n, ranks), cyclic = Partition::cyclic(n, ranks);
  std::vector<std::int64_t> weights;
  const auto level = matrix.level<1>().view();
  for (std::int64_t row = 0; row < n; ++row) weights.push_back(level.pos_bounds(row).size());
  const auto balanced = Partition::balanced(weights, ranks);
  std::vector<Owners> out{{"blocks", ranks, blocks, whole, blocks},
                          {"balanced", ranks, balanced, whole, balanced},
                          {"cyclic", ranks, cyclic, whole, cyclic}};
  int p = static_cast<int>(std::sqrt(static_cast<double>(ranks)) + 0.5);  // as Distribution::grid
  while (ranks % p != 0) --p;
  out.push_back({"grid", ranks, Partition::blocks(n, p), Partition::blocks(n, ranks / p), blocks, ranks / p});
  return out;
}

/// A number of each rank: the largest, and the average.
struct Spread {
  std::int64_t most = 0;
  double mean = 0;

  explicit Spread(const std::vector<std::int64_t>& all) {
    double sum = 0;
    for (const std::int64_t one : all) {
      most = std::max(most, one);
      sum += static_cast<double>(one);
    }
    mean = sum / static_cast<double>(all.size());
  }
  json to_json() const { return {{"most", most}, {"mean", mean}}; }
};

/// Coordinates that ranks need and others own, each once: (rank, coordinate) packed, ascending.
class Needs {
 public:
  explicit Needs(std::int64_t extent) : extent_(extent) {}
  void add(std::int64_t rank, std::int64_t coordinate) { keys_.push_back(rank * extent_ + coordinate); }
  void close() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const std::int64_t key : keys_) visit(key / extent_, key % extent_);
  }

 private:
  std::int64_t extent_;
  std::vector<std::int64_t> keys_;
};

/// What travels to each rank in one step.
struct Step {
  std::vector<std::int64_t> messages, values;

  /// @param weight  values of a coordinate
  template <class Weight>
  Step(const Needs& needs, const Owners& owners, const Weight& weight)
      : messages(static_cast<std::size_t>(owners.ranks)), values(messages.size()) {
    Needs pairs(owners.ranks);
    needs.for_each([&](std::int64_t rank, std::int64_t coordinate) {
      const int owner = owners.vectors.owner(coordinate);
      if (owner == rank) return;
      values[static_cast<std::size_t>(rank)] += weight(coordinate);
      pairs.add(rank, owner);
    });
    pairs.close();
    pairs.for_each([&](std::int64_t rank, std::int64_t) { ++messages[static_cast<std::size_t>(rank)]; });
  }
  double seconds(const Machine& machine) const {
    double most = 0;
    for (std::size_t rank = 0; rank < messages.size(); ++rank)
      most = std::max(most, machine.alpha * static_cast<double>(messages[rank]) +
                                machine.beta * 8 * static_cast<double>(values[rank]));
    return most;
  }
};

/// The halo of one division of a matrix, and what the model says.
json study(const Matrix& matrix, const Owners& owners, const Machine& machine, double gamma) {
  const std::int64_t n = matrix.extent(0);
  const auto level = matrix.level<1>().view();
  const auto ranks = static_cast<std::size_t>(owners.ranks);
  std::vector<std::int64_t> nonzeros(ranks);
  Needs columns(n), rows(n);
  for (std::int64_t row = 0; row < n; ++row) {
    const Bounds of_row = level.pos_bounds(row);
    for (std::int64_t q = of_row.begin; q < of_row.end; ++q) {
      const std::int64_t column = level.coord_at(q), rank = owners.of_nonzero(row, column);
      ++nonzeros[static_cast<std::size_t>(rank)];
      columns.add(rank, column);
      rows.add(rank, row);
    }
  }
  columns.close();
  rows.close();
  const auto one = [](std::int64_t) { return std::int64_t{1}; };
  // On a grid, sums of a row of it go to the owners of y; else each rank has its own.
  const Step of_x(columns, owners, one), of_y(rows, owners, one);
  const Spread work(nonzeros);
  // Before they exchange values, and before sums are taken over, ranks agree that none has failed.
  const double rounds = std::ceil(std::log2(static_cast<double>(owners.ranks)));
  const double seconds = gamma * static_cast<double>(work.most) + of_x.seconds(machine) +
                         of_y.seconds(machine) +
                         machine.alpha * rounds * (owners.columns_of_grid == 1 ? 1 : 2);
  const double alone = gamma * static_cast<double>(matrix.nnz());

  // A * A: whole rows of the halo by rows, blocks of its row and its column on a grid.
  std::vector<std::int64_t> of_square(ranks), messages_of_square(ranks);
  if (owners.columns_of_grid == 1) {
    const Step fetched(columns, owners, [&](std::int64_t row) { return level.pos_bounds(row).size(); });
    of_square = fetched.values;
    messages_of_square = fetched.messages;
  } else {
    const int q = owners.columns_of_grid, p = static_cast<int>(owners.ranks) / q;
    std::vector<std::int64_t> of_row(static_cast<std::size_t>(p)), of_column(static_cast<std::size_t>(q));
    const auto at = [](std::size_t rank, int q_) {
      return std::pair(rank / static_cast<std::size_t>(q_), rank % static_cast<std::size_t>(q_));
    };
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      of_row[at(rank, q).first] += nonzeros[rank];
      of_column[at(rank, q).second] += nonzeros[rank];
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      of_square[rank] = of_row[at(rank, q).first] + of_column[at(rank, q).second] - 2 * nonzeros[rank];
      messages_of_square[rank] = p + q - 2;
    }
  }
  return {{"partition", owners.name},
          {"ranks", owners.ranks},
          {"nonzeros", work.to_json()},
          {"imbalance", work.mean > 0 ? static_cast<double>(work.most) / work.mean : 1},
          {"messages_of_x", Spread(of_x.messages).to_json()},
          {"values_of_x", Spread(of_x.values).to_json()},
          {"messages_of_y", Spread(of_y.messages).to_json()},
          {"values_of_y", Spread(of_y.values).to_json()},
          {"seconds", seconds},
          {"speedup", alone / seconds},
          {"messages_of_square", Spread(messages_of_square).to_json()},
          {"values_of_square", Spread(of_square).to_json()}};
}

/// The seconds of a nonzero in a product of the rows that a rank has, on all ranks at a time.
double measure_nonzero(const Communicator& ranks, const Matrix& matrix) {
  const auto A = scatter(Distribution<2>::blocks(ranks, matrix.extents()), matrix);
  const Tensor<double, DenseVector> x({matrix.extent(1)}), y({A.local().extent(0)});
  auto product = plan(assign(y(i), A.local()(i, j) * x(j)));
  const double seconds = measured(ranks, 51, [&] { product.run(); });
  return seconds / static_cast<double>(ranks.max(A.nnz()));
}

/// The product on the ranks that there are, measured and by the model.
json check(const Communicator& ranks, const Matrix& matrix, const Owners& owners, const Machine& machine,
           double gamma) {
  const auto A = scatter(Distribution<2>(ranks, {owners.rows, owners.columns}), matrix);
  const Vector x(Distribution<1>(ranks, {owners.vectors})), y(x.distribution());
  x(i) = 1.0;
  auto product = plan(assign(y(i), A(i, j) * x(j)));
  json out = study(matrix, owners, machine, gamma);
  const Traffic sent = traffic(assign(y(i), A(i, j) * x(j)));
  out["bytes_sent"] = sent.bytes();
  const double of_x = out["values_of_x"]["mean"], of_y = out["values_of_y"]["mean"];
  const auto counted = static_cast<std::int64_t>(8 * ranks.size() * (of_x + of_y) + 0.5);
  if (owners.rows.is_contiguous() && counted != sent.bytes())
    throw InternalError(text(owners.name, ": ", counted, " bytes are counted, and ", sent.bytes(), " sent"));
  out["measured_seconds"] = measured(ranks, 51, [&] { product.run(); });
  return out;
}

std::string number(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.3g", value);
  return out;
}

void run(const Communicator& ranks, int argc, char** argv) {
  if (argc < 2) throw Error("usage: perf_scaling FILE.json [matrix.mtx.gz …]");
  const Machine machine = measure_messages(ranks);
  const bool prints = ranks.rank() == 0;
  if (prints)
    std::printf("alpha %s s, beta %s s per byte\n\n", number(machine.alpha).c_str(),
                number(machine.beta).c_str());
  std::vector<std::pair<std::string, Matrix>> matrices;
  matrices.emplace_back("7-point grid of 64^3",
                        perf::laplacian(64, false).matrix<double, std::int64_t, std::int32_t>());
  for (int at = 2; at < argc; ++at)
    matrices.emplace_back(perf::file_name(argv[at]), read<CSR<>>(argv[at], {.progress = false}));

  json records = json::array();
  for (const auto& [name, matrix] : matrices) {
    if (matrix.extent(0) != matrix.extent(1)) throw ShapeError(text(name, " is not square"));
    const double gamma = measure_nonzero(ranks, matrix);
    json record = {{"matrix", name}, {"rows", matrix.extent(0)}, {"nnz", matrix.nnz()},
                   {"gamma", gamma}, {"checks", json::array()},  {"divisions", json::array()}};
    for (const Owners& owners : all_owners(matrix, ranks.size())) {
      record["checks"].push_back(check(ranks, matrix, owners, machine, gamma));
      const json& made = record["checks"].back();
      if (prints)
        std::printf("%-24s %-9s %5d ranks: model %s ms, measured %s ms\n", name.c_str(), owners.name.c_str(),
                    ranks.size(), number(1e3 * made["seconds"].get<double>()).c_str(),
                    number(1e3 * made["measured_seconds"].get<double>()).c_str());
    }
    if (prints)
      for (const int parts : {10, 36, 100, 400, 1024, 4096, 10000}) {
        if (parts > matrix.extent(0)) continue;
        for (const Owners& owners : all_owners(matrix, parts)) {
          record["divisions"].push_back(study(matrix, owners, machine, gamma));
          const json& one = record["divisions"].back();
          std::printf("%-24s %-9s %5d ranks: %4ld messages, %6ld values, speedup %s; A * A %8ld values\n",
                      name.c_str(), owners.name.c_str(), parts, one["messages_of_x"]["most"].get<long>(),
                      one["values_of_x"]["most"].get<long>(), number(one["speedup"].get<double>()).c_str(),
                      one["values_of_square"]["most"].get<long>());
        }
      }
    records.push_back(std::move(record));
  }
  if (!prints) return;
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  std::string command;
  for (int at = 0; at < argc; ++at) command += text(at ? " " : "", perf::file_name(argv[at]));
  std::ofstream out(argv[1]);
  out << json{{"context",
               {{"subject", "scaling"},
                {"date", date},
                {"command", command},
                {"ranks", ranks.size()},
                {"machine", perf::system_line("/proc/cpuinfo", "model name")},
                {"compiler", perf::compiler()},
                {"vectors", perf::vectors},
                {"alpha", machine.alpha},
                {"beta", machine.beta}}},
              {"benchmarks", records}}
             .dump(1)
      << '\n';
  if (!out.flush()) throw IoError(argv[1], "cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  const MpiScope mpi(argc, argv);
  const ScopeGuard guard(argc, argv);
  const auto ranks = Communicator::world();
  return run_jointly(ranks, [&] {
    run(ranks, argc, argv);
    return 0;
  });
}

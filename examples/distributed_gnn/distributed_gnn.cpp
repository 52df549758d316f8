// SPDX-License-Identifier: Apache-2.0
/// @file distributed_gnn.cpp
/// A two-layer graph convolutional network, trained on a citation graph, on any number of ranks.
///
///     distributed_gnn [graph] [width of the hidden layer] [steps]
///     mpirun -n 4 distributed_gnn
///
/// T. Kipf, M. Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017. The
/// task is the same as in `gnn_layer`, which trains on one host or GPU.
///
/// Each rank has the features of some papers and their rows of the graph; it fetches the features of the
/// papers that they cite, once in each direction of a step. All ranks have the weights, whose derivatives
/// they add up.
#include <fmt/core.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

namespace {

using namespace sporos::indices;
using sporos::Communicator;
using sporos::Distributed;
using sporos::Distribution;
using sporos::Tensor;
using Graph = Distributed<Tensor<float, sporos::CSR<>>>;
using Features = Distributed<Tensor<float, sporos::DenseMatrix<>>>;
using Vector = Distributed<Tensor<float, sporos::DenseVector>>;
using Weights = Tensor<float, sporos::DenseMatrix<>>;

/// The derivative of max(x, 0).
struct IsPositive {
  KOKKOS_FUNCTION float operator()(float x) const { return x > 0 ? 1 : 0; }
};
struct Exp {
  KOKKOS_FUNCTION float operator()(float x) const { return Kokkos::exp(x); }
};
struct AboveRoot {
  KOKKOS_FUNCTION float operator()(float x) const { return Kokkos::sqrt(x) + 1e-8f; }
};
struct InverseRoot {
  KOKKOS_FUNCTION float operator()(float x) const { return 1 / Kokkos::sqrt(x); }
};

/// The weights of a layer, which learn from their derivative (D. Kingma, J. Ba, "Adam: a method for
/// stochastic optimization", ICLR 2015). Every rank has all of them, and takes the same steps.
struct Layer {
  Layer(std::int64_t from, std::int64_t to, unsigned seed)
      : W({from, to}), dW({from, to}), mean({from, to}), square({from, to}) {
    std::mt19937 draw(seed);
    std::normal_distribution<float> number(0, std::sqrt(2.0f / static_cast<float>(from)));
    for (std::int64_t at = 0; at < W.nnz(); ++at) W.values()(at) = number(draw);
  }
  void step(int count) const {
    mean(i, j) = 0.9 * mean(i, j) + 0.1 * dW(i, j);
    square(i, j) = 0.999 * square(i, j) + 0.001 * dW(i, j) * dW(i, j);
    const double rate = 0.02 * std::sqrt(1 - std::pow(0.999, count)) / (1 - std::pow(0.9, count));
    W(i, j) = W(i, j) - rate * mean(i, j) / sporos::map(AboveRoot{}, square(i, j));
  }

  Weights W, dW, mean, square;
};

/// Features of the papers; each rank has those of its own papers.
Features features_of(const Graph& graph, std::int64_t count) {
  return Features(
      Distribution<2>::along(graph.ranks(), {graph.extent(0), count}, 0, graph.distribution().partition(0)));
}

/// The length of the shortest path from each paper to each of some others; infinity if there is none.
Features ways(const Graph& graph, const std::vector<std::int64_t>& to) {
  const auto columns = static_cast<std::int64_t>(to.size());
  const Features length = features_of(graph, columns);
  const sporos::Bounds mine = graph.distribution().partition(0).range(graph.ranks().rank());
  Kokkos::deep_copy(length.local().values(), std::numeric_limits<float>::infinity());
  for (std::int64_t at = 0; at < columns; ++at) {
    const std::int64_t paper = to[static_cast<std::size_t>(at)];
    if (mine.begin <= paper && paper < mine.end)
      length.local().values()((paper - mine.begin) * columns + at) = 0;
  }
  auto go_on = plan(assign(length(i, j), graph(i, k) * length(k, j)).over(sporos::MinPlus{}).accumulate());
  for (int steps = 0; steps < 24; ++steps) go_on.run();
  return length;
}

/// Of the papers for which `asked` holds, on all ranks, the fraction whose likeliest field is the right one.
double accuracy(const Features& Z, const std::vector<int>& fields, const std::vector<bool>& asked) {
  const std::int64_t count = Z.extent(1);
  std::int64_t right = 0, all = 0;
  for (std::size_t paper = 0; paper < fields.size(); ++paper) {
    if (!asked[paper]) continue;
    const float* const row = Z.local().values().data() + static_cast<std::int64_t>(paper) * count;
    right += std::max_element(row, row + count) - row == fields[paper];
    ++all;
  }
  return static_cast<double>(Z.ranks().sum(right)) / static_cast<double>(Z.ranks().sum(all));
}

int run(const Communicator& ranks, int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : SPOROS_EXAMPLE_DATA "/cora.mtx.gz";
  const std::int64_t width = argc > 2 ? std::atoll(argv[2]) : 32;
  const int steps = argc > 3 ? std::atoi(argv[3]) : 400;
  constexpr std::int64_t landmarks = 60, count = 7;

  const auto matrix = sporos::read<sporos::CSR<>>(ranks, path);
  const std::int64_t papers = matrix.extent(0);
  const Graph edges(matrix.distribution()), A(matrix.distribution());
  edges(i, j) = matrix(i, j);

  // The papers from which distances are measured, and the seven that stand for fields, at random but the same
  // on every rank.
  std::mt19937_64 draw(1);
  std::vector<std::int64_t> from, of_fields;
  for (std::int64_t at = 0; at < landmarks + count; ++at)
    (at < landmarks ? from : of_fields)
        .push_back(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(papers)));
  const Features distances = ways(edges, from), to_fields = ways(edges, of_fields);
  const Features X = features_of(edges, landmarks), Y = features_of(edges, count);
  X(i, j) = 1.0 / (1.0 + distances(i, j));

  const sporos::Bounds mine = edges.distribution().partition(0).range(ranks.rank());
  const auto own = static_cast<std::size_t>(mine.size());
  std::vector<int> fields(own, -1);
  std::vector<bool> is_learned(own), is_asked(own);
  const Vector mask(along(edges, 0));  // 1 for papers whose fields are used for training
  for (std::int64_t paper = 0; paper < mine.size(); ++paper) {
    const float* const row = to_fields.local().values().data() + paper * count;
    const auto nearest = std::min_element(row, row + count);
    if (std::isinf(*nearest)) continue;
    const auto at = static_cast<std::size_t>(paper);
    fields[at] = static_cast<int>(nearest - row);
    is_learned[at] = (mine.begin + paper) % 2 == 0;
    is_asked[at] = !is_learned[at];
    Y.local().values()(paper * count + (nearest - row)) = 1;
    mask.local().values()(paper) = is_learned[at] ? 1 : 0;
  }

  // A, scaled by the roots of the degrees on both sides. It is symmetric, so derivatives pass through it in
  // the same way as features.
  const Vector root(along(edges, 0));
  root(i) = sporos::map(InverseRoot{}, sporos::sum(j, edges(i, j)) + 1e-6);
  A(i, j) = root(i) * edges(i, j) * root(j);

  const Layer first(landmarks, width, 2), second(width, count, 3);
  const Features AX = features_of(A, landmarks), Z1 = features_of(A, width), H = features_of(A, width);
  const Features AH = features_of(A, width), Z2 = features_of(A, count), E = features_of(A, count);
  const Features dZ2 = features_of(A, count), dAH = features_of(A, width), dH = features_of(A, width);
  const Features dZ1 = features_of(A, width);
  const Vector sums(along(A, 0));
  AX(i, j) = A(i, k) * X(k, j);

  // One step forward and backward, planned once: what is fetched and added up, and with which messages.
  auto hidden = plan(assign(Z1(i, j), AX(i, k) * first.W(k, j)));
  auto activate = plan(assign(H(i, j), max(Z1(i, j), 0)));
  auto gather_hidden = plan(assign(AH(i, j), A(i, k) * H(k, j)));
  auto classify = plan(assign(Z2(i, j), AH(i, k) * second.W(k, j)));
  // The derivative of the cross entropy of softmax(Z2), for the papers used for training.
  auto exponentials = plan(assign(E(i, j), sporos::map(Exp{}, Z2(i, j))));
  auto add_up = plan(assign(sums(i), sporos::sum(j, E(i, j))));
  auto derive_loss = plan(assign(dZ2(i, j), mask(i) * (E(i, j) / sums(i) - Y(i, j))));
  auto derive_second = plan(assign(second.dW(i, j), AH(k, i) * dZ2(k, j)));
  auto back_through_weights = plan(assign(dAH(i, j), dZ2(i, k) * second.W(j, k)));
  auto back_through_graph = plan(assign(dH(i, j), A(i, k) * dAH(k, j)));
  auto deactivate = plan(assign(dZ1(i, j), dH(i, j) * sporos::map(IsPositive{}, Z1(i, j))));
  auto derive_first = plan(assign(first.dW(i, j), AX(k, i) * dZ1(k, j)));

  double fit = 0, others = 0;
  for (int step = 1; step <= steps && fit < 0.85; ++step) {
    hidden.run();
    activate.run();
    gather_hidden.run();
    classify.run();
    exponentials.run();
    add_up.run();
    derive_loss.run();
    derive_second.run();
    back_through_weights.run();
    back_through_graph.run();
    deactivate.run();
    derive_first.run();
    first.step(step);
    second.step(step);
    if (step % 20 == 0) {
      fit = accuracy(Z2, fields, is_learned);
      others = accuracy(Z2, fields, is_asked);
      if (ranks.rank() == 0)
        fmt::print("  step {:>4}   right: learned {:>5.1f} %, others {:>5.1f} %\n", step, 100 * fit,
                   100 * others);
    }
  }
  return argc > 1 || (fit >= 0.85 && others > 0.75) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const sporos::MpiScope mpi(argc, argv);
  const sporos::ScopeGuard guard(argc, argv);
  const auto ranks = Communicator::world();
  return sporos::run_jointly(ranks, [&] { return run(ranks, argc, argv); });
}

// SPDX-License-Identifier: Apache-2.0
/// @file gnn_layer.cpp
/// A two-layer graph convolutional network, forward and backward, trained on a citation graph.
///
///     gnn_layer [graph] [width of the hidden layer] [steps]
///
/// T. Kipf, M. Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017: a
/// layer is A X W, where A is the graph with its rows and columns scaled by the roots of the degrees.
///
/// Seven papers stand for fields; every other paper belongs to the field of the one that it can reach by the
/// fewest citations. The network knows how far each paper is from sixty others; it learns the fields of one
/// half of the papers and is asked for those of the other half. With CUDA it is trained on the GPU, otherwise
/// on the host.
#include <fmt/core.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace sporos::indices;
using sporos::DenseMatrix;
using sporos::DenseVector;
using sporos::Tensor;

#ifdef KOKKOS_ENABLE_CUDA
using Space = sporos::Cuda;
#else
using Space = sporos::Host;
#endif
using Graph = Tensor<float, sporos::CSR<std::int32_t, std::int32_t>, Space>;
using Matrix = Tensor<float, DenseMatrix<>, Space>;
using Vector = Tensor<float, DenseVector, Space>;
using HostMatrix = Tensor<float, DenseMatrix<>>;

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

/// A product with the graph, whose values stay the same: planned here, run in every step.
template <class Statement>
std::function<void()> planned(const Statement& product) {
  const auto constant = product.with_constant_operands();
  const auto plan = std::make_shared<sporos::Plan<std::remove_const_t<decltype(constant)>>>(constant);
  return [plan] { plan->run(); };
}

/// Z = A X W and its derivatives.
class GraphConvolution {
 public:
  /// @param X, Z  what a layer reads and what it computes
  GraphConvolution(const Graph& A, const Matrix& X, const Matrix& Z, unsigned seed)
      : Z_(Z),
        AX_(X.extents()),
        dAX_(X.extents()),
        W_({X.extent(1), Z.extent(1)}),
        dW_(W_.extents()),
        mean_(W_.extents()),
        square_(W_.extents()),
        gather_(planned(assign(AX_(i, j), A(i, k) * X(k, j)))) {
    std::mt19937 draw(seed);
    std::normal_distribution<float> number(0, std::sqrt(2.0f / static_cast<float>(X.extent(1))));
    const HostMatrix W(W_.extents());
    for (std::int64_t at = 0; at < W.nnz(); ++at) W.values()(at) = number(draw);
    W_ = W.copy_to<Space>();
  }

  /// The same for a layer that is not the first one. The plan of the product with the transpose of A keeps
  /// what it needs of A by columns.
  /// @param dX  the loss's derivative by X
  GraphConvolution(const Graph& A, const Matrix& X, const Matrix& dX, const Matrix& Z, unsigned seed)
      : GraphConvolution(A, X, Z, seed) {
    scatter_ = planned(assign(dX(i, j), A(k, i) * dAX_(k, j)));
  }

  void forward() const {
    gather_();
    Z_(i, j) = AX_(i, k) * W_(k, j);
  }
  /// Computes from the loss's derivative by Z, after forward(), those by W, which are kept here, and by X.
  void backward(const Matrix& dZ) const {
    dW_(i, j) = AX_(k, i) * dZ(k, j);
    if (!scatter_) return;
    dAX_(i, j) = dZ(i, k) * W_(j, k);
    scatter_();
  }

  /// The update after the number-th call of backward() (D. Kingma, J. Ba, "Adam: a method for stochastic
  /// optimization", ICLR 2015).
  void step(int number) const {
    mean_(i, j) = 0.9 * mean_(i, j) + 0.1 * dW_(i, j);
    square_(i, j) = 0.999 * square_(i, j) + 0.001 * dW_(i, j) * dW_(i, j);
    const double rate = 0.02 * std::sqrt(1 - std::pow(0.999, number)) / (1 - std::pow(0.9, number));
    W_(i, j) = W_(i, j) - rate * mean_(i, j) / sporos::map(AboveRoot{}, square_(i, j));
  }

 private:
  Matrix Z_, AX_, dAX_, W_, dW_, mean_, square_;
  std::function<void()> gather_, scatter_;
};

/// The length of the shortest path from each vertex to each of some others; infinity if there is none.
HostMatrix ways(const Tensor<float, sporos::CSR<std::int32_t, std::int32_t>>& edges,
                const std::vector<std::int64_t>& to) {
  const HostMatrix length({edges.extent(0), static_cast<std::int64_t>(to.size())});
  const auto columns = static_cast<std::int64_t>(to.size());
  Kokkos::deep_copy(length.values(), std::numeric_limits<float>::infinity());
  for (std::int64_t at = 0; at < columns; ++at)
    length.values()(to[static_cast<std::size_t>(at)] * columns + at) = 0;
  for (int steps = 0; steps < 24; ++steps)
    assign(length(i, j), edges(i, k) * length(k, j)).over(sporos::MinPlus{}).accumulate().run();
  return length;
}

/// The fraction of papers number `first`, `first` + 2, … whose likeliest field is the right one.
double accuracy(const HostMatrix& Z, const std::vector<int>& fields, std::size_t first) {
  const std::int64_t count = Z.extent(1);
  int right = 0, all = 0;
  for (std::size_t paper = first; paper < fields.size(); paper += 2) {
    if (fields[paper] < 0) continue;
    const float* const row = Z.values().data() + static_cast<std::int64_t>(paper) * count;
    right += std::max_element(row, row + count) - row == fields[paper];
    ++all;
  }
  return static_cast<double>(right) / all;
}

}  // namespace

int main(int argc, char** argv) {
  const sporos::ScopeGuard guard(argc, argv);
  try {
    const std::string path = argc > 1 ? argv[1] : SPOROS_EXAMPLE_DATA "/cora.mtx.gz";
    const std::int64_t width = argc > 2 ? std::atoll(argv[2]) : 32;
    const int steps = argc > 3 ? std::atoi(argv[3]) : 400;
    constexpr std::int64_t landmarks = 60, count = 7;

    const auto edges =
        sporos::convert<sporos::CSR<std::int32_t, std::int32_t>, float>(sporos::read<sporos::CSR<>>(path));
    const std::int64_t papers = edges.extent(0);
    fmt::print("{}\n", sporos::summary(edges));

    // The papers from which distances are measured, and the seven that stand for fields, at random.
    std::mt19937_64 draw(1);
    std::vector<std::int64_t> from, of_fields;
    for (std::int64_t at = 0; at < landmarks + count; ++at)
      (at < landmarks ? from : of_fields)
          .push_back(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(papers)));
    const HostMatrix distances = ways(edges, from), to_fields = ways(edges, of_fields);
    const HostMatrix near({papers, landmarks}), wanted({papers, count});
    near(i, j) = 1.0 / (1.0 + distances(i, j));
    std::vector<int> fields(static_cast<std::size_t>(papers), -1);
    const Tensor<float, DenseVector> learned({papers});  // 1 for papers whose fields are used for training
    for (std::int64_t paper = 0; paper < papers; ++paper) {
      const float* const row = to_fields.values().data() + paper * count;
      const auto nearest = std::min_element(row, row + count);
      if (std::isinf(*nearest)) continue;
      fields[static_cast<std::size_t>(paper)] = static_cast<int>(nearest - row);
      wanted.values()(paper * count + (nearest - row)) = 1;
      learned.values()(paper) = paper % 2 == 0 ? 1 : 0;
    }

    // A, scaled by the roots of the degrees on both sides.
    const Tensor<float, DenseVector> root({papers});
    root(i) = sporos::map(InverseRoot{}, sporos::sum(j, edges(i, j)) + 1e-6);
    Tensor<float, sporos::CSR<std::int32_t, std::int32_t>> scaled({papers, papers});
    scaled(i, j) = root(i) * edges(i, j) * root(j);

    const Graph A = scaled.copy_to<Space>();
    const Matrix X = near.copy_to<Space>(), Y = wanted.copy_to<Space>();
    const Vector mask = learned.copy_to<Space>();
    const Matrix Z1({papers, width}), H({papers, width}), dH({papers, width}), dZ1({papers, width});
    const Matrix Z2({papers, count}), E({papers, count}), dZ2({papers, count});
    const Vector sums({papers});
    const GraphConvolution first(A, X, Z1, 2), second(A, H, dH, Z2, 3);

    Kokkos::Timer timer;
    double fit = 0;
    for (int step = 1; step <= steps && fit < 0.85; ++step) {
      first.forward();
      H(i, j) = max(Z1(i, j), 0);
      second.forward();

      // The derivative of the cross entropy of softmax(Z2), for the papers used for training.
      E(i, j) = sporos::map(Exp{}, Z2(i, j));
      sums(i) = sporos::sum(j, E(i, j));
      dZ2(i, j) = mask(i) * (E(i, j) / sums(i) - Y(i, j));

      second.backward(dZ2);
      dZ1(i, j) = dH(i, j) * sporos::map(IsPositive{}, Z1(i, j));
      first.backward(dZ1);
      first.step(step);
      second.step(step);

      if (step % 20 == 0) {
        const HostMatrix Z = Z2.copy_to<sporos::Host>();
        fit = accuracy(Z, fields, 0);
        fmt::print("  step {:>4}   right: learned {:>5.1f} %, others {:>5.1f} %\n", step, 100 * fit,
                   100 * accuracy(Z, fields, 1));
      }
    }
    Kokkos::fence();
    const double others = accuracy(Z2.copy_to<sporos::Host>(), fields, 1);
    fmt::print("  {:.2f} s\n", timer.seconds());
    return argc > 1 || (fit >= 0.85 && others > 0.75) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "gnn_layer: {}\n", error.what());
    return 2;
  }
}

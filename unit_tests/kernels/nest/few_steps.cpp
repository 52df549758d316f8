// SPDX-License-Identifier: Apache-2.0
/// @file few_steps.cpp
/// Loops with little to do are run by the thread that asks for them, and others by all threads.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <sporos/sporos.hpp>
#include <thread>

namespace sporos::test::few_steps {
namespace {

using namespace sporos::indices;

// As it is in programs; main.cpp sets it to 0.
const double usual_steps = sporos::detail::most_unshared_steps;

class UsualSteps {
 public:
  UsualSteps() { sporos::detail::most_unshared_steps = usual_steps; }
  ~UsualSteps() { sporos::detail::most_unshared_steps = 0; }
  UsualSteps(const UsualSteps&) = delete;
  UsualSteps& operator=(const UsualSteps&) = delete;
};

/// The threads that call a function of nonzeros, which returns when it has seen as many of them as are
/// expected.
class Callers {
 public:
  explicit Callers(std::size_t expected) : expected_(expected) {}

  double meet(double value) {
    if (value == 0) return value;  // asked for when the statement is made
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      {
        const std::lock_guard lock(guard_);
        seen_.insert(std::this_thread::get_id());
        if (seen_.size() >= expected_ || std::chrono::steady_clock::now() > end) return value;
      }
      std::this_thread::yield();
    }
  }
  const std::set<std::thread::id>& seen() const { return seen_; }

 private:
  std::mutex guard_;
  std::set<std::thread::id> seen_;
  std::size_t expected_;
};

struct Meet {
  Callers* callers;
  double operator()(double value) const { return callers->meet(value); }
};

/// Expects that the statements made by run(map) call the mapped function on this thread alone.
template <class Run>
void expect_own_thread(const Run& run) {
  Callers callers(1);
  run(Meet{&callers});
  EXPECT_EQ(callers.seen(), std::set{std::this_thread::get_id()});
}

Tensor<double, CSR<>> banded(std::int64_t rows) {
  Entries<double, 2> entries({rows, rows}, 3 * rows);
  for (std::int64_t e = 0; e < entries.size(); ++e)
    entries.set(e, {e / 3, (e / 3 + e % 3) % rows}, 1.0 + static_cast<double>(e % 7));
  return assemble<CSR<>>(entries);
}

TEST(FewSteps, AreTakenByOneThread) {
  const UsualSteps usual;
  const auto B = banded(4);
  const auto C = convert<CSC<>>(B);
  const Tensor<double, CSR<>> A({4, 4});
  const Tensor<double, DenseVector> x({4}), y({4});
  x(i) = 2.0;
  expect_own_thread([&](const Meet& f) { y(i) = map(f, x(i)); });
  expect_own_thread([&](const Meet& f) { y(i) = map(f, B(i, j)) * x(j); });
  expect_own_thread([&](const Meet& f) { y(i) = map(f, C(i, j)) * x(j); });
  expect_own_thread([&](const Meet& f) { A(i, j) = map(f, B(i, j)) + B(i, j); });
  expect_own_thread([&](const Meet& f) { A(i, j) = map(f, B(i, k)) * B(k, j); });
  expect_own_thread(
      [&](const Meet& f) { assign(A(i, j), map(f, C(i, k)) * B(k, j)).reorder(k, i, j).run(); });
  expect_own_thread([&](const Meet& f) { EXPECT_GT(value(sum(map(f, B(i, j)))), 0); });
}

TEST(FewSteps, AreNotThoseOfManyNonzeros) {
  const UsualSteps usual;
  const std::size_t threads = Kokkos::DefaultHostExecutionSpace().concurrency() > 1 ? 2 : 1;
  const auto B = banded(20'000);
  const Tensor<double, CSR<>> A({20'000, 20'000});
  Callers callers(threads);
  A(i, j) = map(Meet{&callers}, B(i, j)) + B(i, j);
  EXPECT_GE(callers.seen().size(), threads);
}

TEST(FewSteps, MultiplyNonzerosByTheExtentsOfOtherLoops) {
  const auto B = banded(20);
  const Tensor<double, CSR<>> A({20, 20});
  const Tensor<double, DenseVector> x({20}), y({20});
  const auto steps = [](const auto& statement) {
    return sporos::detail::most_steps(statement, bounds_of(statement).extent);
  };
  EXPECT_EQ(steps(assign(y(i), B(i, j) * x(j))), 60);
  EXPECT_EQ(steps(assign(y(i), x(i))), 20);
  EXPECT_EQ(steps(assign(A(i, j), B(i, j) + B(i, j))), 120);
  EXPECT_EQ(steps(assign(A(i, j), B(i, k) * B(k, j))), 2 * 60 * 20);
  EXPECT_EQ(steps(assign(y(i), B(i, j) * x(j) + x(i))), 400);
  EXPECT_EQ(steps(assign(y(i), max(x(i), 0))), 20);
  EXPECT_EQ(steps(assign(y(i), map([](double v) { return 2 * v; }, x(i)))), 64 * 20);
}

}  // namespace
}  // namespace sporos::test::few_steps

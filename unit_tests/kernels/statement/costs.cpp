// SPDX-License-Identifier: Apache-2.0
/// @file costs.cpp
/// Costs that depend on whether a statement is run once or a plan is made of it.
#include <gtest/gtest.h>

#include <ostream>
#include <sporos/sporos.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "../../reference.hpp"
#include "../loop_parts.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;
using namespace loop_parts;

/// Sets a dense vector to 42, and accepts only statements of which a plan is made.
struct OnlyInPlans {
  static constexpr std::string_view name = "only in plans";
  static constexpr std::string_view takes = "dense vectors, in plans";
  static constexpr bool deterministic = true;
  template <class S>
  static constexpr bool matches = std::is_same_v<typename S::result_type::format, DenseVector>;

  template <class S>
  static Offer cost(const S&, const Resources<typename S::space_type>&, Use use) {
    if (use == Use::once) return Declined{"this is run once"};
    return Cost{1e-6};
  }

  template <class S>
  class Plan {
   public:
    Plan(const S& statement, const Resources<typename S::space_type>&) : statement_(statement) {}
    void run() { Kokkos::deep_copy(statement_.result().tensor().values(), 42); }
    Bytes bytes() const { return {}; }
    void explain(std::ostream&) const {}

   private:
    const S& statement_;
  };
};

TEST(Costs, MayDependOnWhetherAPlanIsMade) {
  const Tensor<double, DenseVector> x({3}), y({3});
  const auto statement = assign(y(i), 2.0 * x(i)).use<OnlyInPlans>();
  try {
    statement.run();
    FAIL() << "the candidate declines statements that are run once";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string_view(error.what()).find("this is run once"), std::string_view::npos);
  }
  EXPECT_EQ(y.values()(0), 0);
  auto planned = plan(statement);
  EXPECT_EQ(planned.candidate(), "only in plans");
  planned.run();
  EXPECT_EQ(y.values()(2), 42);
}

TEST(Candidates, SayWhatTheyTakeWhereTheyAreAskedForAnotherStatement) {
  const Tensor<double, DenseVector> x({3}), y({3});
  const Tensor<double, CSR<>> A({3, 3}), B({3, 3});
  EXPECT_NE(
      message_of<ScheduleError>([&] {
        assign(y(i), x(i)).use<AppendedNest>().run();
      }).find("loop nest, appended does not take this statement: it computes sparse results in host memory"),
      std::string::npos);
  EXPECT_NE(message_of<ScheduleError>([&] {
              assign(A(i, j), 2.0 * B(i, j)).use<OnlyInPlans>().run();
            }).find("only in plans does not take this statement: it computes dense vectors, in plans"),
            std::string::npos);
}

/// As OnlyInPlans, with results that depend on the order of threads.
struct DependingOnThreads : OnlyInPlans {
  static constexpr bool deterministic = false;
};

TEST(Candidates, SayWhichPartOfTheScheduleTheyDoNotFollow) {
  const Tensor<double, DenseVector> x({3}), y({3});
  const Tensor<double, DenseMatrix<>> D({3, 3});
  const auto expect_reason = [](const auto& statement, std::string_view reason) {
    const std::string message = message_of<ScheduleError>([&] { statement.run(); });
    EXPECT_NE(message.find(text("does not take this statement: ", reason)), std::string::npos) << message;
    EXPECT_EQ(message.find("computes dense vectors"), std::string::npos) << message;
  };
  const auto statement = assign(y(i), 2.0 * x(i)).use<OnlyInPlans>();
  expect_reason(statement.over(MinPlus{}), "it computes with + and *, not over a semiring");
  expect_reason(statement.split(i, i0, i1, 2).parallelize(i0),
                "it has loops of its own, which split, fuse, pos and parallelize do not change");
  expect_reason(statement.workspace(dense_workspace),
                "it has no use for the workspace given with .workspace(...)");
  expect_reason(assign(y(i), D(2, i)).use<OnlyInPlans>(), "it reads no parts of tensors");
  expect_reason(assign(y(i), 2.0 * x(i)).deterministic().use<DependingOnThreads>(),
                "its results depend on the order in which threads run, and .deterministic() excludes that");
}

}  // namespace
}  // namespace sporos::test

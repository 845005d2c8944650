// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file The manners in which the canonical search goes about its decisions.
#ifndef STATOR_CODEGEN_MEMORY_SEARCHSTRATEGY_H
#define STATOR_CODEGEN_MEMORY_SEARCHSTRATEGY_H

namespace stator::memory {

/// In what order the blocks of a section are tried: largest first, in one of these senses. Span counts sections.
enum class BlockOrder { Area, Size, SpanArea, SpanThenSize, SpanThenSmall, Degree };
/// Which section is decided next. Most prefer few ways to go on, and sections that refused often.
enum class SectionOrder { FewestWays, LowestAndFewest, Lowest, Tightest, LeastSlack, MostToCome };
/// What is done if the preferred section is not a local minimum: take the next best one, or go down from there.
enum class Minimum { Skip, Descend };

struct Strategy {
  BlockOrder blocks;
  SectionOrder sections;
  Minimum minimum;
};

/// Each is the quickest on some kind of problem; the order is that of how many kinds.
constexpr Strategy kStrategies[] = {
    {BlockOrder::SpanThenSize, SectionOrder::FewestWays, Minimum::Descend},
    {BlockOrder::Size, SectionOrder::LeastSlack, Minimum::Skip},
    {BlockOrder::SpanThenSize, SectionOrder::LeastSlack, Minimum::Skip},
    {BlockOrder::Degree, SectionOrder::Tightest, Minimum::Descend},
    {BlockOrder::SpanArea, SectionOrder::LowestAndFewest, Minimum::Descend},
    {BlockOrder::Degree, SectionOrder::Lowest, Minimum::Descend},
    {BlockOrder::SpanThenSize, SectionOrder::MostToCome, Minimum::Descend},
    {BlockOrder::Size, SectionOrder::FewestWays, Minimum::Descend},
    {BlockOrder::SpanThenSmall, SectionOrder::FewestWays, Minimum::Descend},
    {BlockOrder::Degree, SectionOrder::Tightest, Minimum::Skip},
    {BlockOrder::Area, SectionOrder::FewestWays, Minimum::Descend},
    {BlockOrder::SpanArea, SectionOrder::FewestWays, Minimum::Skip},
};

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_SEARCHSTRATEGY_H

//! Refusals: which operation, which rule, which numbers.

use std::fmt;

/// Says which layout operation refused, and by which rule.
///
/// The message reads `operation: rule (need …, have …)`.
///
/// ```
/// use cuda_safe::layout::{Order, StridedLayout};
///
/// let image = StridedLayout::dense(&[6, 2], 1, Order::C)?;
/// let refused = image.reshape(&[5, -1]).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "reshape: the given extents must divide the volume (need a divisor of 12, have 5)",
/// );
/// # Ok::<(), cuda_safe::layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
// Boxed, so that results stay small where nothing is refused.
pub struct LayoutError(Box<Refusal>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{operation}: {rule}")]
struct Refusal {
    operation: &'static str,
    rule: LayoutRule,
}

impl LayoutError {
    /// Returns the operation that refused, by the name of its method.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// Returns the rule that did not hold, with its numbers.
    #[must_use]
    pub fn rule(&self) -> LayoutRule {
        self.0.rule
    }
}

/// Names a rule of layouts together with what it needed and what it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutRule {
    /// Items have at least one byte.
    #[error("the item size must be positive (need at least 1, have {have})")]
    ItemSizeNotPositive {
        /// Bytes an item.
        have: i64,
    },
    /// A layout has at most [`MAX_NDIM`](super::MAX_NDIM) axes.
    #[error("there are too many axes (need at most {need}, have {have})")]
    TooManyAxes {
        /// The most axes that a layout has.
        need: usize,
        /// Axes asked for.
        have: usize,
    },
    /// There are as many strides as extents.
    #[error("there must be one stride per axis (need {need}, have {have})")]
    StridesLength {
        /// Number of extents.
        need: usize,
        /// Number of strides.
        have: usize,
    },
    /// No extent is negative.
    #[error("the extent of axis {axis} must not be negative (need at least 0, have {have})")]
    NegativeExtent {
        /// Axis of the extent, counted in the shape that was given.
        axis: usize,
        /// Its extent.
        have: i64,
    },
    /// Every number of a layout fits 64 bits, sign included.
    #[error("the {quantity} must fit 64 bits (need at most 2^63 - 1, have {left} {sign} {right})")]
    Overflow {
        /// What was computed.
        quantity: &'static str,
        /// Left operand.
        left: i64,
        /// What joins the operands.
        sign: Sign,
        /// Right operand.
        right: i64,
    },
    /// An order is one of C, F, keep, or a list of axes; keeping needs a layout to keep it of.
    #[error("the order is not one of those possible here (need {need}, have {have})")]
    OrderUnknown {
        /// The orders possible here.
        need: &'static str,
        /// First character of the order's name.
        have: char,
    },
    /// A list of axes names as many axes as the layout has.
    #[error("the {operand} must name every axis once (need {need} axes, have {have})")]
    AxesLength {
        /// Which list.
        operand: &'static str,
        /// Axes of the layout.
        need: usize,
        /// Axes named.
        have: usize,
    },
    /// An axis lies in the layout; negative axes count from the end.
    #[error("the {operand} must exist (need -{ndim} <= axis < {ndim}, have {have})")]
    AxisOutOfRange {
        /// Which axis or list.
        operand: &'static str,
        /// Axes of the layout.
        ndim: usize,
        /// Axis asked for.
        have: i64,
    },
    /// No axis is named twice.
    #[error("the {operand} must not name an axis twice (need each once, have {have} again)")]
    AxisRepeated {
        /// Which list.
        operand: &'static str,
        /// The axis named again, as given.
        have: i64,
    },
    /// A reshaped layout holds as many elements as before.
    #[error("the shapes must hold as many elements (need {need}, have {have})")]
    VolumeMismatch {
        /// Elements of the layout.
        need: i64,
        /// Elements of the new shape.
        have: i64,
    },
    /// At most one extent is left to be inferred.
    #[error("only one extent may be inferred (need one -1, have axes {first} and {second})")]
    SeveralInferred {
        /// First axis given as -1.
        first: usize,
        /// Second axis given as -1.
        second: usize,
    },
    /// An extent can be inferred only if the others multiply to more than zero.
    #[error(
        "axis {axis} cannot be inferred beside an extent of 0 (need a product above 0, have 0)"
    )]
    InferredAmbiguous {
        /// The axis given as -1.
        axis: usize,
    },
    /// The extents beside an inferred one divide the volume.
    #[error("the given extents must divide the volume (need a divisor of {volume}, have {have})")]
    InferredNotDivisible {
        /// Elements of the layout.
        volume: i64,
        /// Product of the given extents.
        have: i64,
    },
    /// New axes split runs of evenly spaced elements, and never span two of them.
    #[error(
        "the strides do not allow this shape without a copy \
         (need axis {axis} to divide a run of {need} evenly spaced elements, have extent {have})"
    )]
    StridesIncompatible {
        /// Axis of the new shape.
        axis: usize,
        /// Elements left in the run that the axis falls into.
        need: i64,
        /// Its extent.
        have: i64,
    },
    /// A broadcast never drops axes.
    #[error("a broadcast must keep every axis (need at least {need} axes, have {have})")]
    BroadcastAxes {
        /// Axes of the layout.
        need: usize,
        /// Axes of the new shape.
        have: usize,
    },
    /// A broadcast changes only extents of 1.
    #[error("only an extent of 1 can be broadcast (need axis {axis} to stay {need}, have {have})")]
    BroadcastExtent {
        /// Axis of the new shape.
        axis: usize,
        /// Extent of the layout.
        need: i64,
        /// Extent asked for.
        have: i64,
    },
    /// One of two item sizes divides the other.
    #[error(
        "one item size must divide the other (need a factor or multiple of {need}, have {have})"
    )]
    ItemSizeNotDividing {
        /// The layout's item size in bytes.
        need: i64,
        /// The item size asked for.
        have: i64,
    },
    /// An address is a multiple of the item size.
    #[error("the address is not aligned to the item size (need a multiple of {need}, have {have})")]
    AddressUnaligned {
        /// Item size in bytes.
        need: i64,
        /// The address.
        have: u64,
    },
    /// Items side by side along the axis can be taken as one.
    #[error("items must lie side by side along axis {axis} (need byte stride {need}, have {have})")]
    AxisNotContiguous {
        /// The axis along which items are packed or unpacked.
        axis: usize,
        /// Item size in bytes.
        need: i64,
        /// Byte stride of the axis.
        have: i64,
    },
    /// Whole items are made of whole items.
    #[error(
        "the extent of axis {axis} must hold whole items (need a multiple of {need}, have {have})"
    )]
    ExtentNotDivisible {
        /// The axis along which items are packed.
        axis: usize,
        /// Old items in a new one.
        need: i64,
        /// Extent of the axis.
        have: i64,
    },
    /// A size can be told only if nothing lies before the first byte.
    #[error("a size needs all elements at or after the start (need offset 0 or more, have {have})")]
    NegativeOffset {
        /// The lowest byte offset.
        have: i64,
    },
    /// A limit on item sizes admits the layout's own.
    #[error("the limit must admit the layout's own item size (need at least {need}, have {have})")]
    LimitBelowItemSize {
        /// The layout's item size in bytes.
        need: i64,
        /// The limit.
        have: i64,
    },
    /// A limit on item sizes is positive.
    #[error("the limit on item sizes must be positive (need at least 1, have {have})")]
    LimitNotPositive {
        /// The limit.
        have: i64,
    },
    /// There are at most as many indices as axes.
    #[error("there are more indices than axes (need at most {need}, have {have})")]
    TooManyIndices {
        /// Axes of the layout.
        need: usize,
        /// Indices that take an axis.
        have: usize,
    },
    /// An index lies inside its axis; negative indices count from the end.
    #[error(
        "the index of axis {axis} must exist (need -{extent} <= index < {extent}, have {have})"
    )]
    IndexOutOfRange {
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: i64,
        /// The index.
        have: i64,
    },
    /// One number per axis.
    #[error("there must be one {operand} per axis (need {need}, have {have})")]
    OnePerAxis {
        /// What there must be one of.
        operand: &'static str,
        /// Axes of the layout.
        need: usize,
        /// Numbers given.
        have: usize,
    },
    /// A range moves by at least one element.
    #[error("the step of index {position} must not be zero (need another number, have 0)")]
    ZeroStep {
        /// Position in the list of indices.
        position: usize,
    },
    /// A list of indices has at most one ellipsis.
    #[error("there must be at most one ellipsis (need 1, have another at index {position})")]
    SeveralEllipses {
        /// Position of the second one.
        position: usize,
    },
    /// A size or step along an axis is at least one.
    #[error("the {operand} of axis {axis} must be positive (need at least 1, have {have})")]
    NotPositive {
        /// Which number.
        operand: &'static str,
        /// The axis.
        axis: usize,
        /// The number.
        have: i64,
    },
    /// A window fits its axis.
    #[error("a window must fit axis {axis} (need at most {need}, have {have})")]
    WindowTooLong {
        /// The axis.
        axis: usize,
        /// Its extent.
        need: i64,
        /// Length of the window.
        have: i64,
    },
    /// A split lies inside its axis or at one of its ends.
    #[error("axis {axis} must reach to where it is split (need 0 to {need}, have {have})")]
    SplitOutOfRange {
        /// The axis.
        axis: usize,
        /// Its extent.
        need: i64,
        /// Where it was to be split.
        have: i64,
    },
    /// Two layouts used element by element have the same shape.
    #[error("both layouts must have one shape (need extent {need} at axis {axis}, have {have})")]
    ShapesDiffer {
        /// First axis that differs.
        axis: usize,
        /// Extent in the first layout, 0 if it has no such axis.
        need: i64,
        /// Extent in the second layout, 0 if it has no such axis.
        have: i64,
    },
}

impl LayoutRule {
    #[cold]
    pub(super) fn refused_by(self, operation: &'static str) -> LayoutError {
        LayoutError(Box::new(Refusal { operation, rule: self }))
    }
}

/// Joins the two operands of a sum or product that did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// A product.
    Times,
    /// A sum.
    Plus,
}

impl fmt::Display for Sign {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Times => "*",
            Self::Plus => "+",
        })
    }
}

//! The names that the cases give to the rules of layouts.

use cuda_safe::layout::{LayoutError, LayoutRule};

/// Returns the cases' name for a refusal; rules that no case asks for have none.
pub(super) fn kind_of(error: &LayoutError) -> &'static str {
    match error.rule() {
        LayoutRule::ItemSizeNotPositive { .. } if error.operation() == "repack" => {
            "new-itemsize-not-positive"
        }
        LayoutRule::ItemSizeNotPositive { .. } => "itemsize-not-positive",
        LayoutRule::TooManyAxes { .. } => "too-many-dims",
        LayoutRule::StridesLength { .. } => "strides-length",
        LayoutRule::NegativeExtent { .. } => "negative-extent",
        LayoutRule::Overflow { .. } => "int64-overflow",
        LayoutRule::OrderUnknown { .. } => "bad-stride-order",
        LayoutRule::AxesLength { operand: "order", .. } => "order-length",
        LayoutRule::AxesLength { .. } => "perm-length",
        LayoutRule::AxisOutOfRange { operand, .. } => match operand {
            "order" => "order-axis-range",
            "permutation" => "perm-axis-range",
            "start axis" => "start-axis-range",
            "end axis" => "end-axis-range",
            _ => "axis-range",
        },
        LayoutRule::AxisRepeated { operand, .. } => match operand {
            "order" => "order-repeated-axis",
            "permutation" => "perm-repeated-axis",
            _ => "axis-repeated",
        },
        LayoutRule::VolumeMismatch { .. } => "volume-mismatch",
        LayoutRule::SeveralInferred { .. } => "several-inferred",
        LayoutRule::InferredAmbiguous { .. } => "inferred-ambiguous",
        LayoutRule::InferredNotDivisible { .. } => "inferred-not-divisible",
        LayoutRule::StridesIncompatible { .. } => "strides-incompatible",
        LayoutRule::BroadcastAxes { .. } => "broadcast-ndim",
        LayoutRule::BroadcastExtent { .. } => "broadcast-extent",
        LayoutRule::ItemSizeNotDividing { .. } => "itemsize-not-dividing",
        LayoutRule::AddressUnaligned { .. } => "pointer-unaligned",
        LayoutRule::AxisNotContiguous { .. } => "axis-stride-not-one",
        LayoutRule::ExtentNotDivisible { .. } => "axis-extent-not-divisible",
        LayoutRule::NegativeOffset { .. } => "negative-min-offset",
        LayoutRule::LimitBelowItemSize { .. } => "max-itemsize-below-itemsize",
        LayoutRule::LimitNotPositive { .. } => "max-itemsize-not-positive",
        LayoutRule::TooManyIndices { .. } => "too-many-indices",
        LayoutRule::IndexOutOfRange { .. } => "index-range",
        LayoutRule::ZeroStep { .. } => "zero-step",
        LayoutRule::SeveralEllipses { .. } => "several-ellipses",
        LayoutRule::WindowTooLong { .. } => "window-too-long",
        _ => "no kind of the cases",
    }
}

//! Every property and operation against brute force, on 100,000 random layouts.
//!
//! The layouts have 0 to 6 axes, strides of either sign and zero, offsets, item sizes from 1 to 16
//! and odd ones beyond. Brute force knows a layout only as the list of its elements' offsets.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "brute force fails the test where it is wrong"
)]

mod axes;
mod brute;
mod overlap;
mod properties;
mod random;
mod repack;
mod reshape;
mod slice;
mod windows;

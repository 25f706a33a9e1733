//! Every refusal names the operation, the rule and the numbers.

use cuda_safe::StridedLayout;
use cuda_safe::layout::{Ellipsis, LayoutError, Order, Packing, s};

fn refusals() -> Result<Vec<(LayoutError, &'static str)>, LayoutError> {
    let layout = StridedLayout::dense(&[6, 4], 4, Order::C)?;
    let columns = layout.transpose()?;
    let last = Packing::LAST_AXIS;
    let results = [
        (
            StridedLayout::dense(&[2], 0, Order::C),
            "dense: the item size must be positive (need at least 1, have 0)",
        ),
        (
            StridedLayout::dense(&[1; 65], 1, Order::C),
            "dense: there are too many axes (need at most 64, have 65)",
        ),
        (
            StridedLayout::from_byte_strides(&[2, 3], &[1], 1),
            "from_byte_strides: there must be one stride per axis (need 2, have 1)",
        ),
        (
            StridedLayout::from_element_strides(&[2, -3], &[1, 1], 1),
            "from_element_strides: the extent of axis 1 must not be negative \
             (need at least 0, have -3)",
        ),
        (
            StridedLayout::from_byte_strides(&[3], &[1 << 62], 1),
            "from_byte_strides: the reach of an axis in bytes must fit 64 bits \
             (need at most 2^63 - 1, have 2 * 4611686018427387904)",
        ),
        (
            StridedLayout::dense(&[0, 3], 1, Order::Keep),
            "dense: the order is not one of those possible here \
             (need C, F or a list of axes, have K)",
        ),
        (
            "X".parse().and_then(|order| layout.to_dense(order)),
            "order: the order is not one of those possible here (need C, F or K, have X)",
        ),
        (
            StridedLayout::dense(&[0, 3], 1, Order::Axes(&[0])),
            "dense: the order must name every axis once (need 2 axes, have 1)",
        ),
        (
            layout.to_dense(Order::Axes(&[0, 2])),
            "dense_like: the order must exist (need -2 <= axis < 2, have 2)",
        ),
        (
            layout.permute(&[0, -2]),
            "permute: the permutation must not name an axis twice \
             (need each once, have -2 again)",
        ),
        (
            layout.reshape(&[5, 5]),
            "reshape: the shapes must hold as many elements (need 24, have 25)",
        ),
        (
            layout.reshape(&[-1, 3, -1]),
            "reshape: only one extent may be inferred (need one -1, have axes 0 and 2)",
        ),
        (
            layout.reshape(&[0, -1]),
            "reshape: axis 1 cannot be inferred beside an extent of 0 \
             (need a product above 0, have 0)",
        ),
        (
            layout.reshape(&[5, -1]),
            "reshape: the given extents must divide the volume (need a divisor of 24, have 5)",
        ),
        (
            columns.reshape(&[24]),
            "reshape: the strides do not allow this shape without a copy \
             (need axis 0 to divide a run of 6 evenly spaced elements, have extent 24)",
        ),
        (
            layout.broadcast_to(&[4]),
            "broadcast_to: a broadcast must keep every axis (need at least 2 axes, have 1)",
        ),
        (
            layout.broadcast_to(&[6, 5]),
            "broadcast_to: only an extent of 1 can be broadcast \
             (need axis 1 to stay 4, have 5)",
        ),
        (
            layout.repack(6, last),
            "repack: one item size must divide the other \
             (need a factor or multiple of 4, have 6)",
        ),
        (
            layout.repack(8, Packing { address: Some(12), ..last }),
            "repack: the address is not aligned to the item size \
             (need a multiple of 8, have 12)",
        ),
        (
            columns.repack(8, last),
            "repack: items must lie side by side along axis 1 (need byte stride 4, have 16)",
        ),
        (
            layout.repack(12, last),
            "repack: the extent of axis 1 must hold whole items (need a multiple of 3, have 4)",
        ),
        (
            layout.slice(&s![0, 0, 0]),
            "slice: there are more indices than axes (need at most 2, have 3)",
        ),
        (
            layout.slice(&s![.., 4]),
            "slice: the index of axis 1 must exist (need -4 <= index < 4, have 4)",
        ),
        (
            layout.slice(&s![.., ..;0]),
            "slice: the step of index 1 must not be zero (need another number, have 0)",
        ),
        (
            layout.slice(&s![Ellipsis, Ellipsis]),
            "slice: there must be at most one ellipsis (need 1, have another at index 1)",
        ),
        (layout.windows(&[1]), "windows: there must be one size per axis (need 2, have 1)"),
        (
            layout.unfold(0, 2, 0),
            "unfold: the step of axis 0 must be positive (need at least 1, have 0)",
        ),
        (layout.unfold(1, 5, 1), "unfold: a window must fit axis 1 (need at most 4, have 5)"),
        (
            layout.split_at(0, 7).map(|(before, _)| before),
            "split_at: axis 0 must reach to where it is split (need 0 to 6, have 7)",
        ),
        (
            layout.coalesce_with(&columns).map(|(first, _)| first),
            "coalesce: both layouts must have one shape (need extent 6 at axis 0, have 4)",
        ),
    ];
    let sizes = [
        (
            layout.flip(0)?.with_byte_offset(0)?.required_size(),
            "required_size: a size needs all elements at or after the start \
             (need offset 0 or more, have -80)",
        ),
        (
            layout.max_compatible_item_size(2, last),
            "max_compatible_item_size: the limit must admit the layout's own item size \
             (need at least 4, have 2)",
        ),
        (
            layout.max_compatible_item_size(0, last),
            "max_compatible_item_size: the limit on item sizes must be positive \
             (need at least 1, have 0)",
        ),
    ];
    let layouts =
        results.into_iter().filter_map(|(result, message)| Some((result.err()?, message)));
    let sizes = sizes.into_iter().filter_map(|(result, message)| Some((result.err()?, message)));
    Ok(layouts.chain(sizes).collect())
}

#[test]
fn refusals_name_operation_rule_and_numbers() {
    let refusals = refusals().unwrap();
    assert_eq!(refusals.len(), 33);
    for (refusal, message) in refusals {
        assert_eq!(refusal.to_string(), message);
        assert_eq!(refusal.to_string(), format!("{}: {}", refusal.operation(), refusal.rule()));
    }
}

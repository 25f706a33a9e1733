//! The operations and properties by the names that the cases give them.

use cuda_safe::StridedLayout;
use cuda_safe::layout::{Order, Overlap, Packing};
use serde_json::Value;

use super::answer::{Answer, Answered, Stop};
use super::parse::{self, Arguments};

/// Runs the operation of a case.
pub(super) fn run(operation: &str, case: &Value) -> Answered {
    let given = case.get("args").unwrap_or(&Value::Null);
    let arguments = |known: &[&str]| Arguments::of(given, known);
    let layout = || parse::layout(case.get("in").unwrap_or(&Value::Null));
    let answer = match operation {
        "new" => make(given)?,
        "dense" => {
            let arguments = arguments(&["shape", "itemsize", "order"])?;
            let shape = parse::integers(arguments.need("shape")?)?;
            let item_size = parse::integer(arguments.need("itemsize")?)?;
            let mut axes = Vec::new();
            let order = parse::order(arguments.get("order"), Order::C, &mut axes)?;
            StridedLayout::dense(&shape, item_size, order)?
        }
        "dense_like" | "to_dense" => {
            let arguments = arguments(&["order", "other"])?;
            let other = arguments.get("other").map_or_else(layout, parse::layout)?;
            let mut axes = Vec::new();
            let order = parse::order(arguments.get("order"), Order::Keep, &mut axes)?;
            if operation == "to_dense" {
                other.to_dense(order)?
            } else {
                StridedLayout::dense_like(&other, order)?
            }
        }
        "permuted" => {
            let axes = parse::integers(arguments(&["axes"])?.need("axes")?)?;
            layout()?.permute(&axes)?
        }
        "reshaped" => {
            let shape = parse::integers(arguments(&["shape"])?.need("shape")?)?;
            layout()?.reshape(&shape)?
        }
        "broadcast_to" => {
            let shape = parse::integers(arguments(&["shape"])?.need("shape")?)?;
            layout()?.broadcast_to(&shape)?
        }
        "flattened" => flatten(&layout()?, &arguments(&["start_axis", "end_axis", "mask"])?)?,
        "squeezed" => {
            arguments(&[])?;
            layout()?.squeeze()?
        }
        "unsqueezed" => {
            let arguments = arguments(&["axis", "axes"])?;
            let axes = arguments.get("axes").map_or_else(|| arguments.need("axis"), Ok)?;
            layout()?.unsqueeze(&parse::integers(axes)?)?
        }
        "repacked" => {
            let arguments = arguments(&["itemsize", "data_ptr", "axis", "keep_dim"])?;
            let item_size = parse::integer(arguments.need("itemsize")?)?;
            layout()?.repack(item_size, packing(&arguments)?)?
        }
        "sliced" => {
            let indices = parse::indices(arguments(&["slices"])?.need("slices")?)?;
            layout()?.slice(&indices)?
        }
        "max_compatible_itemsize" => {
            let arguments = arguments(&["max_itemsize", "data_ptr", "axis"])?;
            let limit = arguments.integer_or("max_itemsize", 16)?;
            let size = layout()?.max_compatible_item_size(limit, packing(&arguments)?)?;
            return Ok(Answer::Integer(size));
        }
        "transposed" => {
            arguments(&[])?;
            layout()?.transpose()?
        }
        "flipped" => layout()?.flip(parse::integer(arguments(&["axis"])?.need("axis")?)?)?,
        "diagonal" => {
            let arguments = arguments(&["offset", "axis1", "axis2"])?;
            let above = arguments.integer_or("offset", 0)?;
            let rows = arguments.integer_or("axis1", 0)?;
            layout()?.diagonal(above, rows, arguments.integer_or("axis2", 1)?)?
        }
        "windows" => {
            let sizes = parse::integers(arguments(&["sizes"])?.need("sizes")?)?;
            layout()?.windows(&sizes)?
        }
        "unfolded" => {
            let arguments = arguments(&["axis", "size", "step"])?;
            let number = |name| arguments.need(name).and_then(parse::integer);
            layout()?.unfold(number("axis")?, number("size")?, number("step")?)?
        }
        "overlap" => {
            let other = parse::layout(arguments(&["other"])?.need("other")?)?;
            return match layout()?.overlap(&other) {
                Overlap::NotProved => Err(Stop::unknown("not proved")),
                answer => Ok(Answer::Truth(answer == Overlap::Overlapping)),
            };
        }
        "eq" => {
            let other = arguments(&["other"])?.need("other")?;
            // What is no layout equals none.
            let same = other.is_object() && layout()? == parse::layout(other)?;
            return Ok(Answer::Truth(same));
        }
        "props" => {
            arguments(&[])?;
            return properties(&layout()?, case.get("expect"));
        }
        name => {
            arguments(&[])?;
            return property(name, &layout()?);
        }
    };
    Ok(Answer::Layout(answer))
}

fn make(given: &Value) -> Result<StridedLayout, Stop> {
    let arguments = Arguments::of(
        given,
        &[
            "shape",
            "strides",
            "strides_bytes",
            "itemsize",
            "offset",
            "offset_bytes",
            "divide_strides",
        ],
    )?;
    let in_bytes = arguments.truth_or("divide_strides", false)?;
    parse::from_fields(&arguments, in_bytes)
}

fn packing(arguments: &Arguments<'_>) -> Result<Packing, Stop> {
    let address = match arguments.get("data_ptr") {
        None => None,
        Some(value) => Some(
            value.as_u64().ok_or_else(|| Stop::unknown(format!("{value} is not an address")))?,
        ),
    };
    Ok(Packing {
        axis: arguments.integer_or("axis", -1)?,
        address: address.filter(|&address| address != 0),
        keep_axis: arguments.truth_or("keep_dim", true)?,
    })
}

/// Flattens a range; a mask says of each axis whether it may be merged with the one before it.
fn flatten(layout: &StridedLayout, arguments: &Arguments<'_>) -> Result<StridedLayout, Stop> {
    let first = arguments.integer_or("start_axis", 0)?;
    let last = arguments.integer_or("end_axis", -1)?;
    let Some(mask) = arguments.get("mask") else {
        return Ok(layout.flatten_axes(first, last)?);
    };
    let mask = parse::integer(mask)?;
    let ndim = i64::try_from(layout.ndim()).unwrap_or(i64::MAX);
    // Refuses a range that doesn't exist, as without a mask.
    layout.flatten_axes(first, last)?;
    let from_start = |axis: i64| if axis < 0 { axis + ndim } else { axis };
    let (first, last) = (from_start(first), from_start(last));
    let mut flat = layout.clone();
    let mut end = last;
    for axis in (first..=last).rev() {
        if axis == first || mask >> axis & 1 == 0 {
            flat = flat.flatten_axes(axis, end)?;
            end = axis - 1;
        }
    }
    Ok(if ndim == 0 { layout.flatten()? } else { flat })
}

fn properties(layout: &StridedLayout, expected: Option<&Value>) -> Answered {
    let Some(Value::Object(expected)) = expected else {
        return Err(Stop::unknown("properties are asked for as an object"));
    };
    let answers = expected.keys().map(|name| (name.clone(), property(name, layout)));
    Ok(Answer::Properties(answers.collect()))
}

fn property(name: &str, layout: &StridedLayout) -> Answered {
    let item_size = layout.item_size();
    let in_elements = |offset: i64| {
        let not_whole = || Stop::unknown(format!("offset {offset} is not a whole number of items"));
        (offset % item_size == 0).then_some(offset / item_size).ok_or_else(not_whole)
    };
    Ok(match name {
        "ndim" => Answer::Integer(i64::try_from(layout.ndim()).unwrap_or(i64::MAX)),
        "shape" => Answer::Integers(layout.shape().to_vec()),
        "itemsize" => Answer::Integer(item_size),
        "volume" => Answer::Integer(layout.volume()?),
        "is_empty" => Answer::Truth(layout.is_empty()),
        "strides" => Answer::Strides {
            layout: layout.clone(),
            unit: item_size,
            strides: layout.element_strides().map(|strides| strides.to_vec()),
        },
        "strides_in_bytes" | "strides_bytes" => Answer::Strides {
            layout: layout.clone(),
            unit: 1,
            strides: Some(layout.byte_strides().to_vec()),
        },
        "stride_order" => {
            Answer::StrideOrder { layout: layout.clone(), order: layout.stride_order().to_vec() }
        }
        "offset" | "slice_offset" => Answer::Integer(in_elements(layout.byte_offset())?),
        "offset_bytes" | "slice_offset_in_bytes" => Answer::Integer(layout.byte_offset()),
        "offset_bounds" => Answer::Bounds(match layout.offset_bounds() {
            None => None,
            Some((lowest, highest)) => Some((in_elements(lowest)?, in_elements(highest)?)),
        }),
        "offset_bounds_bytes" | "offset_bounds_in_bytes" => Answer::Bounds(layout.offset_bounds()),
        "min_offset" => Answer::Integer(in_elements(layout.offset_bounds().map_or(0, |b| b.0))?),
        "max_offset" => {
            let empty = Answer::Integer(-1);
            return layout
                .offset_bounds()
                .map_or(Ok(empty), |(_, highest)| Ok(Answer::Integer(in_elements(highest)?)));
        }
        "required_size_in_bytes" => Answer::Integer(layout.required_size()?),
        "is_contiguous_c" => Answer::Truth(layout.is_c_contiguous()),
        "is_contiguous_f" => Answer::Truth(layout.is_f_contiguous()),
        "is_contiguous_any" => Answer::Truth(layout.is_contiguous()),
        "is_dense" => Answer::Truth(layout.is_dense()),
        "is_unique" => Answer::Truth(layout.is_unique()),
        other => return Err(Stop::unknown(format!("unknown operation or property {other}"))),
    })
}

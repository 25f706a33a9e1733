//! Reads layouts and arguments from JSON.

use cuda_safe::StridedLayout;
use cuda_safe::layout::{Ellipsis, Index, NewAxis, Order, Slice};
use serde_json::{Map, Value};

use super::answer::Stop;

/// The arguments of a case, all of which must be known to its operation.
pub(super) struct Arguments<'a>(Option<&'a Map<String, Value>>);

impl<'a> Arguments<'a> {
    pub(super) fn of(value: &'a Value, known: &[&str]) -> Result<Self, Stop> {
        match value {
            Value::Null => Ok(Self(None)),
            Value::Object(arguments) => {
                match arguments.keys().find(|name| !known.contains(&name.as_str())) {
                    Some(name) => Err(Stop::unknown(format!("unknown argument {name}"))),
                    None => Ok(Self(Some(arguments))),
                }
            }
            other => Err(Stop::unknown(format!("{other} is not an object"))),
        }
    }

    /// Returns an argument that is there and isn't null.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.and_then(|arguments| arguments.get(name)).filter(|value| !value.is_null())
    }

    pub(super) fn need(&self, name: &str) -> Result<&'a Value, Stop> {
        self.get(name).ok_or_else(|| Stop::unknown(format!("no argument {name}")))
    }

    pub(super) fn integer_or(&self, name: &str, otherwise: i64) -> Result<i64, Stop> {
        self.get(name).map_or(Ok(otherwise), integer)
    }

    pub(super) fn truth_or(&self, name: &str, otherwise: bool) -> Result<bool, Stop> {
        self.get(name).map_or(Ok(otherwise), |value| {
            value.as_bool().ok_or_else(|| Stop::unknown(format!("{value} is not true or false")))
        })
    }
}

/// Reads an integer; one that doesn't fit 64 bits is what layouts refuse as such.
pub(super) fn integer(value: &Value) -> Result<i64, Stop> {
    match (value.as_i64(), value.as_f64()) {
        (Some(number), _) => Ok(number),
        (None, Some(number)) if number.abs() >= 9.2e18 => Err(Stop::Refused {
            kind: "int64-overflow",
            message: format!("{value} does not fit 64 bits"),
        }),
        _ => Err(Stop::unknown(format!("{value} is not an integer"))),
    }
}

/// Reads a list of integers, or one integer as a list of it.
pub(super) fn integers(value: &Value) -> Result<Vec<i64>, Stop> {
    match value {
        Value::Array(values) => values.iter().map(integer).collect(),
        other => Ok(vec![integer(other)?]),
    }
}

/// Reads a layout.
pub(super) fn layout(value: &Value) -> Result<StridedLayout, Stop> {
    if !value.is_object() {
        return Err(Stop::unknown(format!("{value} is not a layout")));
    }
    let known = ["shape", "strides", "strides_bytes", "itemsize", "offset", "offset_bytes"];
    from_fields(&Arguments::of(value, &known)?, false)
}

/// Makes a layout from fields; `in_bytes` says that strides without a unit are in bytes.
pub(super) fn from_fields(fields: &Arguments<'_>, in_bytes: bool) -> Result<StridedLayout, Stop> {
    let shape = integers(fields.need("shape")?)?;
    let item_size = integer(fields.need("itemsize")?)?;
    let layout = match (fields.get("strides"), fields.get("strides_bytes")) {
        (None, None) => StridedLayout::dense(&shape, item_size, Order::C)?,
        (Some(strides), None) if !in_bytes => {
            StridedLayout::from_element_strides(&shape, &integers(strides)?, item_size)?
        }
        (Some(strides), None) | (None, Some(strides)) => {
            StridedLayout::from_byte_strides(&shape, &integers(strides)?, item_size)?
        }
        (Some(_), Some(_)) => return Err(Stop::unknown("strides in both units")),
    };
    match (fields.get("offset"), fields.get("offset_bytes")) {
        (None, None) => Ok(layout),
        (Some(offset), None) => Ok(layout.with_element_offset(integer(offset)?)?),
        (None, Some(offset)) => Ok(layout.with_byte_offset(integer(offset)?)?),
        (Some(_), Some(_)) => Err(Stop::unknown("an offset in both units")),
    }
}

/// Reads an order: a name or a list of axes, which `axes` keeps.
pub(super) fn order<'a>(
    value: Option<&Value>,
    otherwise: Order<'static>,
    axes: &'a mut Vec<i64>,
) -> Result<Order<'a>, Stop> {
    match value {
        None => Ok(otherwise),
        Some(Value::String(name)) => Ok(name.parse()?),
        Some(list) => {
            *axes = integers(list)?;
            Ok(Order::Axes(axes))
        }
    }
}

/// Reads the indices of a slice.
pub(super) fn indices(value: &Value) -> Result<Vec<Index>, Stop> {
    match value {
        Value::Array(values) => values.iter().map(index).collect(),
        other => Ok(vec![index(other)?]),
    }
}

fn index(value: &Value) -> Result<Index, Stop> {
    match value {
        Value::Null => Ok(NewAxis),
        Value::Bool(truth) => Ok(Index::At(i64::from(*truth))),
        Value::Number(_) => end(value).map(Index::At),
        Value::String(name) => match name.to_ascii_lowercase().as_str() {
            "newaxis" | "new_axis" | "none" => Ok(NewAxis),
            "ellipsis" | "..." => Ok(Ellipsis),
            ":" => Ok(Slice::FULL.into()),
            _ => Err(index_type(value)),
        },
        Value::Object(fields) => match (fields.get("slice"), fields.keys().next()) {
            (Some(Value::Array(ends)), _) => slice(ends),
            (None, Some(name)) if name == "ellipsis" => Ok(Ellipsis),
            (None, Some(name)) if name == "newaxis" || name == "new_axis" => Ok(NewAxis),
            _ => Err(index_type(value)),
        },
        Value::Array(_) => Err(index_type(value)),
    }
}

/// Reads start, stop and step, of which null and what is missing stand for the usual.
fn slice(ends: &[Value]) -> Result<Index, Stop> {
    let number =
        |position: usize| ends.get(position).filter(|value| !value.is_null()).map(end).transpose();
    let (start, stop, step) = match ends.len() {
        1 => (None, number(0)?, None),
        0 | 2 | 3 => (number(0)?, number(1)?, number(2)?),
        _ => return Err(Stop::unknown("a slice of more than three numbers")),
    };
    Ok(Index::Slice(Slice { start, stop, step: step.unwrap_or(1) }))
}

/// Reads an index; one that doesn't fit 64 bits lies past the end of every axis.
fn end(value: &Value) -> Result<i64, Stop> {
    match integer(value) {
        Err(Stop::Refused { .. }) if value.as_f64().is_some_and(|number| number < 0.0) => {
            Ok(i64::MIN)
        }
        Err(Stop::Refused { .. }) => Ok(i64::MAX),
        Err(Stop::Unknown(_)) => Err(index_type(value)),
        Ok(number) => Ok(number),
    }
}

/// The refusal of what can't be written as an index here at all.
fn index_type(value: &Value) -> Stop {
    Stop::Refused { kind: "index-type", message: format!("{value} is not an index") }
}

//! What an operation answers, and how that compares with what a case asks for.

use std::fmt;

use cuda_safe::StridedLayout;
use cuda_safe::layout::{LayoutError, Order};
use serde_json::Value;

use super::kinds::kind_of;
use super::parse;

/// Why a case gave no answer.
pub(crate) enum Stop {
    /// The layout refused.
    Refused { kind: &'static str, message: String },
    /// The runner can't read the case.
    Unknown(String),
}

impl Stop {
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::Unknown(message.into())
    }
}

impl From<LayoutError> for Stop {
    fn from(error: LayoutError) -> Self {
        Self::Refused { kind: kind_of(&error), message: error.to_string() }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { kind, message } => write!(formatter, "error {kind} ({message})"),
            Self::Unknown(message) => write!(formatter, "nothing: {message}"),
        }
    }
}

pub(crate) type Answered = Result<Answer, Stop>;

/// What an operation or a property answers.
pub(crate) enum Answer {
    Layout(StridedLayout),
    Integer(i64),
    Truth(bool),
    Integers(Vec<i64>),
    /// First and last offset, or nothing for an empty layout.
    Bounds(Option<(i64, i64)>),
    /// Strides in the given unit, in bytes or elements, of a layout; nothing if none are whole.
    Strides {
        layout: StridedLayout,
        unit: i64,
        strides: Option<Vec<i64>>,
    },
    /// Axes of a layout, slowest first.
    StrideOrder {
        layout: StridedLayout,
        order: Vec<i64>,
    },
    /// Properties by name.
    Properties(Vec<(String, Answered)>),
}

impl Answer {
    /// Says in what the answer differs from what is asked for.
    pub(crate) fn compare(&self, expected: &Value) -> Result<(), String> {
        let same = match self {
            Self::Layout(layout) => match parse::layout(expected) {
                Ok(wanted) => *layout == wanted,
                Err(stop) => return Err(format!("asks for {expected}, which is {stop}")),
            },
            Self::Integer(number) => expected.as_i64() == Some(*number),
            Self::Truth(truth) => expected.as_bool() == Some(*truth),
            Self::Integers(numbers) => parse::integers(expected).is_ok_and(|list| list == *numbers),
            Self::Bounds(bounds) => same_bounds(*bounds, expected),
            Self::Strides { layout, unit, strides } => {
                same_strides(layout, *unit, strides.as_deref(), expected)
            }
            Self::StrideOrder { layout, order } => {
                let longer = |order: &[i64]| longer_than_one(layout, order);
                parse::integers(expected).is_ok_and(|wanted| longer(order) == longer(&wanted))
            }
            Self::Properties(properties) => return compare_properties(properties, expected),
        };
        if same { Ok(()) } else { Err(format!("asks for {expected}, answered {self}")) }
    }
}

fn compare_properties(properties: &[(String, Answered)], expected: &Value) -> Result<(), String> {
    for (name, answer) in properties {
        let wanted = expected.get(name).unwrap_or(&Value::Null);
        let wanted_kind = wanted.get("error").map(|error| error.get("kind").unwrap_or(error));
        match (answer, wanted_kind.and_then(Value::as_str)) {
            (Ok(answer), None) => {
                answer.compare(wanted).map_err(|difference| format!("{name} {difference}"))?;
            }
            (Ok(answer), Some(kind)) => {
                return Err(format!("{name} asks for error {kind}, answered {answer}"));
            }
            (Err(Stop::Refused { kind, .. }), Some(wanted)) if *kind == wanted => {}
            (Err(stop), _) => return Err(format!("{name} asks for {wanted}, answered {stop}")),
        }
    }
    Ok(())
}

/// Bounds are both ends, included; nothing is written as null or as a range that ends before it
/// starts.
fn same_bounds(bounds: Option<(i64, i64)>, expected: &Value) -> bool {
    let wanted = match parse::integers(expected).as_deref() {
        Ok([first, last]) if first <= last => Some((*first, *last)),
        Ok([_, _] | []) => None,
        _ if expected.is_null() => None,
        _ => return false,
    };
    bounds == wanted
}

/// Strides count on axes longer than 1; null stands for those of the dense layout in C order.
fn same_strides(
    layout: &StridedLayout,
    unit: i64,
    strides: Option<&[i64]>,
    expected: &Value,
) -> bool {
    let dense = StridedLayout::dense(layout.shape(), layout.item_size(), Order::C);
    let wanted: Vec<i64> = match (parse::integers(expected), dense) {
        (Ok(wanted), _) => wanted,
        (Err(_), Ok(dense)) if expected.is_null() => {
            dense.byte_strides().iter().map(|stride| stride / unit).collect()
        }
        _ => return false,
    };
    let Some(strides) = strides else { return expected.is_null() };
    strides.len() == wanted.len()
        && (layout.is_empty()
            || (strides.iter().zip(&wanted).zip(layout.shape()))
                .all(|((stride, wanted), &extent)| extent <= 1 || stride == wanted))
}

fn longer_than_one(layout: &StridedLayout, order: &[i64]) -> Vec<i64> {
    let extent = |axis: i64| usize::try_from(axis).ok().and_then(|at| layout.shape().get(at));
    order.iter().copied().filter(|&axis| extent(axis).is_none_or(|&extent| extent > 1)).collect()
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(layout) => write!(formatter, "{layout}"),
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Truth(truth) => write!(formatter, "{truth}"),
            Self::Integers(numbers) => write!(formatter, "{numbers:?}"),
            Self::Bounds(Some((first, last))) => write!(formatter, "[{first}, {last}]"),
            Self::Bounds(None) => write!(formatter, "no bounds"),
            Self::Strides { strides: Some(strides), .. } => write!(formatter, "{strides:?}"),
            Self::Strides { strides: None, .. } => write!(formatter, "no whole strides"),
            Self::StrideOrder { order, .. } => write!(formatter, "{order:?}"),
            Self::Properties(properties) => {
                let mut list = formatter.debug_map();
                for (name, answer) in properties {
                    match answer {
                        Ok(answer) => list.entry(name, &format_args!("{answer}")),
                        Err(stop) => list.entry(name, &format_args!("{stop}")),
                    };
                }
                list.finish()
            }
        }
    }
}

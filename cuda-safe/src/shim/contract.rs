//! An annotation as data: beside each function of `call` stands a constant of this type.

use std::fmt;

use cuda_sys::Version;

/// Says when what a call does is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// When it returns.
    Host,
    /// When the context's default stream passes it.
    Default,
    /// When its stream passes it.
    Stream,
}

/// Is everything that an annotation says of a call.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// The exact name of the C function.
    pub symbol: &'static str,
    /// The release that brought it.
    pub since: Version,
    /// When it is done; none for a call that reads and writes no memory and is on no stream.
    pub order: Option<Order>,
    /// Its parameters, in C order; a descriptor is one row a side.
    pub rows: &'static [Row],
}

/// Is what an annotation says of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name that messages use.
    pub operand: &'static str,
    /// What it is.
    pub role: &'static str,
    /// What is done to its bytes.
    pub access: &'static str,
    /// Which bytes, or what it is computed from.
    pub reach: &'static str,
    /// Until when they are in use.
    pub until: &'static str,
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} (CUDA {})", self.symbol, self.since)?;
        for Row { operand, role, access, reach, until } in self.rows {
            writeln!(f, "  {operand:<12} {role:<14} {access:<6} {reach:<32} {until}")?;
        }
        Ok(())
    }
}

impl Contract {
    /// Stands for the contract of an annotation that was refused at compile time.
    #[doc(hidden)]
    pub const fn refused(symbol: &'static str) -> Self {
        Self { symbol, since: Version::new(0, 0), order: None, rows: &[] }
    }
}

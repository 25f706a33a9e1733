//! Runs layout cases kept as JSON: `{"id", "op", "in", "args", "expect" | "error": {"kind"}}`.
//!
//! Shared by the test of the file in `tests/data` and by the example `vectors`, which runs any
//! file. How answers are compared: a layout equals another if it maps the same indices to the same
//! bytes; strides and their order count only on axes longer than 1; an empty layout has no bounds.
//! A case that asks for an error passes only with an error of that kind. What the runner doesn't
//! know — an operation, an argument, a property, a kind — is a failure, never skipped.

mod answer;
mod kinds;
mod operations;
mod parse;

use std::path::Path;

use serde_json::Value;

use answer::Stop;

/// What came of a file.
pub(crate) struct Report {
    /// Number of cases that gave what they ask for.
    pub(crate) passed: usize,
    /// One line for each case that did not.
    pub(crate) differences: Vec<String>,
}

/// Runs all cases of a file; the error is one line that names it.
pub(crate) fn run_file(path: &Path) -> Result<Report, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let cases = read_cases(&text).map_err(|error| format!("{name}: {error}"))?;
    let mut report = Report { passed: 0, differences: Vec::new() };
    for (position, case) in cases.iter().enumerate() {
        match run_case(case) {
            Ok(()) => report.passed += 1,
            Err(difference) => {
                let id = case
                    .get("id")
                    .and_then(Value::as_str)
                    .map_or_else(|| format!("case {}", position + 1), str::to_owned);
                report.differences.push(format!("{id}: {difference}"));
            }
        }
    }
    Ok(report)
}

/// Reads an array of cases, or one case a line.
fn read_cases(text: &str) -> Result<Vec<Value>, String> {
    let cases = match serde_json::from_str(text) {
        Ok(Value::Array(cases)) => cases,
        Ok(case @ Value::Object(_)) => vec![case],
        Ok(_) => return Err("not a list of cases".to_owned()),
        Err(error) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let cases: Result<_, _> = lines.map(serde_json::from_str).collect();
            cases.map_err(|_| format!("not JSON: {error}"))?
        }
    };
    if cases.is_empty() {
        return Err("no cases".to_owned());
    }
    match cases.iter().position(|case| !case.is_object()) {
        Some(position) => Err(format!("case {} is not an object", position + 1)),
        None => Ok(cases),
    }
}

fn run_case(case: &Value) -> Result<(), String> {
    let operation = case.get("op").and_then(Value::as_str).ok_or("no operation")?;
    let answer = operations::run(operation, case);
    if let Some(error) = case.get("error") {
        let kind = error.get("kind").and_then(Value::as_str).ok_or("no kind of error")?;
        return match answer {
            Err(Stop::Refused { kind: found, .. }) if found == kind => Ok(()),
            Err(stop) => Err(format!("{operation} asks for error {kind}, answered {stop}")),
            Ok(answer) => Err(format!("{operation} asks for error {kind}, answered {answer}")),
        };
    }
    let expected = case.get("expect").ok_or("neither an answer nor an error is asked for")?;
    match answer {
        Err(stop) => Err(format!("{operation} asks for {expected}, answered {stop}")),
        Ok(answer) => {
            answer.compare(expected).map_err(|difference| format!("{operation} {difference}"))
        }
    }
}

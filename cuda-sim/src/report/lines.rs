//! The report for programs: a JSON object a line.

use std::fmt::Write as _;

use crate::engine::access::{AccessBox, AccessKind};
use crate::log::Call;
use crate::report::{Finding, FindingKind, Report, Side};

impl FindingKind {
    /// Returns a name that stays as it is: the variant's.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

impl Report {
    /// Returns the report as lines of JSON, each an object whose member `type` says what it is.
    ///
    /// A line of the type `finding` has, for each finding in order, these members:
    ///
    /// | member | what it is |
    /// |---|---|
    /// | `kind` | the variant of [`FindingKind`] |
    /// | `advice` | whether it is advice, not an error |
    /// | `subject` | what is meant, in words |
    /// | `later` | the call that is wrong, or the later of two |
    /// | `earlier` | the other call, or null |
    ///
    /// A call has `call` and `operand` (texts), `stream` (a text, or null), `access` (null, or an
    /// object of `kind`, which is `read`, `write` or `atomic`, and the numbers `base`, `pitch`,
    /// `width` and `height`), and `frames` (texts, the innermost first; empty if call sites weren't
    /// asked for).
    ///
    /// The last line, of the type `end`, has the numbers `findings`, `left_out` and `pending`, the
    /// text `order` (16 hexadecimal digits), and `clean`.
    ///
    /// Members may be added; these keep their names and meanings. Each line ends with a newline.
    ///
    /// ```
    /// cuda_sim::install(cuda_sim::Config::new())?;
    /// let lines = cuda_sim::report().to_json_lines();
    /// assert!(lines.starts_with(r#"{"type":"end","findings":0,"#));
    /// # Ok::<(), cuda_sim::InstallError>(())
    /// ```
    pub fn to_json_lines(&self) -> String {
        let mut lines: String = self.findings.iter().map(finding).collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            lines,
            r#"{{"type":"end","findings":{},"left_out":{},"pending":{},"order":"{:016x}","clean":{}}}"#,
            self.findings.len(),
            self.left_out,
            self.pending,
            self.order,
            self.is_clean()
        );
        lines
    }
}

impl Call {
    /// Returns the call as a line of JSON: an object of the type `call` with the numbers `process`, which
    /// is this one's, and `answer`, and the texts `call` and `arguments`. It ends with a newline.
    ///
    /// ```
    /// cuda_sim::install(cuda_sim::Config::new().log(true))?;
    /// // SAFETY: the call takes no pointer.
    /// let _ = unsafe { cuda_sys::cuInit(0) };
    /// let line = cuda_sim::calls()[0].to_json_line();
    /// assert!(line.trim_end().ends_with(r#""call":"cuInit","arguments":"flags=0","answer":0}"#));
    /// # Ok::<(), cuda_sim::InstallError>(())
    /// ```
    pub fn to_json_line(&self) -> String {
        format!(
            r#"{{"type":"call","process":{},"call":{},"arguments":{},"answer":{}}}{}"#,
            std::process::id(),
            text(self.function),
            text(&self.arguments),
            self.answer.0,
            '\n'
        )
    }
}

fn finding(finding: &Finding) -> String {
    format!(
        r#"{{"type":"finding","kind":{},"advice":{},"subject":{},"later":{},"earlier":{}}}{}"#,
        text(&finding.kind.name()),
        finding.kind.is_advice(),
        text(&finding.subject),
        side(&finding.later),
        finding.earlier.as_ref().map_or_else(null, side),
        '\n'
    )
}

fn side(side: &Side) -> String {
    let frames = side.site.as_ref().map(|site| site.frames()).unwrap_or_default();
    let frames: Vec<String> = frames.iter().map(|frame| text(frame)).collect();
    format!(
        r#"{{"call":{},"operand":{},"stream":{},"access":{},"frames":[{}]}}"#,
        text(side.call),
        text(side.operand),
        side.stream.as_deref().map_or_else(null, text),
        side.access.as_ref().map_or_else(null, access),
        frames.join(",")
    )
}

fn access((kind, area): &(AccessKind, AccessBox)) -> String {
    let kind = match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
    };
    let AccessBox { base, pitch, width, height } = area;
    format!(
        r#"{{"kind":"{kind}","base":{base},"pitch":{pitch},"width":{width},"height":{height}}}"#
    )
}

fn null() -> String {
    "null".to_owned()
}

/// Writes a text as JSON does.
fn text(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            letter if letter < ' ' => {
                // Writing to a string does not fail.
                let _ = write!(json, "\\u{:04x}", u32::from(letter));
            }
            letter => json.push(letter),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::engine::access::{AccessBox, AccessKind};
    use crate::report::{Finding, FindingKind, Report, Side};

    #[test]
    fn a_text_is_escaped() {
        assert_eq!(text("a \"b\" \\ \n\u{1} é"), r#""a \"b\" \\ \n\u0001 é""#);
    }

    #[test]
    fn a_line_is_an_object() {
        let side = Side {
            call: "cuMemsetD8Async",
            operand: "dstDevice",
            stream: Some("stream #2".into()),
            access: Some((AccessKind::Write, AccessBox::linear(16, 4))),
            site: None,
        };
        let later = Side { stream: None, access: None, ..side.clone() };
        let finding = Finding {
            kind: FindingKind::Race,
            earlier: Some(side),
            later,
            subject: "nothing orders the two".to_owned(),
        };
        let report = Report { findings: vec![finding], left_out: 3, pending: 2, order: 0xab };
        let lines = report.to_json_lines();
        let expected = concat!(
            r#"{"type":"finding","kind":"Race","advice":false,"subject":"nothing orders the two","#,
            r#""later":{"call":"cuMemsetD8Async","operand":"dstDevice","stream":null,"access":null,"#,
            r#""frames":[]},"earlier":{"call":"cuMemsetD8Async","operand":"dstDevice","#,
            r#""stream":"stream #2","access":{"kind":"write","base":16,"pitch":4,"width":4,"#,
            r#""height":1},"frames":[]}}"#,
            "\n",
            r#"{"type":"end","findings":1,"left_out":3,"pending":2,"order":"00000000000000ab","#,
            r#""clean":false}"#,
            "\n"
        );
        assert_eq!(lines, expected);
    }
}

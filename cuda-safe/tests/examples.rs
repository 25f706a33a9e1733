//! Examples that measure: that they run, and what they print.
#![cfg(feature = "driver")]

use cuda_safe::Device;
use cuda_sim::{Config, on_every_scheduler};

#[path = "../examples/bandwidth.rs"]
#[expect(dead_code, reason = "it has a main function of its own")]
mod bandwidth;

#[test]
fn bandwidth_prints_a_table() {
    on_every_scheduler!(Config::new(), || {
        let context = Device::get(0).unwrap().context().unwrap();
        let sizes = [64 << 10, 1 << 20];
        let table = bandwidth::measure(&context, &sizes, 3).unwrap();
        assert!(table.rows.iter().flat_map(|(_, figures)| figures).all(|figure| *figure > 0.0));
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 + sizes.len());
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "columns are aligned");
        assert!(lines[2].trim_start().starts_with("64 KiB"));
        assert!(lines[3].trim_start().starts_with("1 MiB"));
    });
}

//! What was measured, for people: the same text on the terminal and on the page.

use std::fmt::Write as _;

use super::result::{Figures, Outcome, Report, Row, Shown, Table};

/// One table.
pub(super) fn table(table: &Table) -> String {
    let figure = match table.shown {
        Shown::Time => ["median", "p90"],
        Shown::PerSecond => ["in a second", "at the slowest tenth"],
    };
    let ratio = format!("times {}", table.ratio_to);
    let head = ["", "subject", figure[0], figure[1], &ratio, "goal"].map(str::to_owned);
    let mut lines = vec![head];
    let mut case = "";
    for row in &table.rows {
        // Said once for the rows that it is true of.
        let shown = if row.case == case { "" } else { &row.case };
        case = &row.case;
        lines.push(cells(shown, row, table.shown));
    }
    let mut text = format!("### {}\n\n{}\n\n", table.title, table.about);
    text.push_str(&grid(&lines));
    if !table.remarks.is_empty() {
        text.push('\n');
    }
    for remark in &table.remarks {
        let _ = writeln!(text, "- {remark}");
    }
    text
}

fn cells(case: &str, row: &Row, shown: Shown) -> [String; 6] {
    let (median, p90) = match &row.outcome {
        Outcome::Measured(Figures { median, p90, .. }) => (show(*median, shown), show(*p90, shown)),
        Outcome::Failed(why) => (format!("failed: {why}"), String::new()),
        Outcome::Absent(why) => (format!("absent: {why}"), String::new()),
    };
    let goals: Vec<String> = row
        .goals
        .iter()
        .map(|goal| {
            let met = match goal.met {
                Some(true) => "met",
                Some(false) => "**not met**",
                None => "not judged",
            };
            format!("{}: {met}", goal.wanted)
        })
        .chain(row.failures.clone())
        .collect();
    let ratio = row.ratio.map_or_else(String::new, |ratio| match ratio {
        large if large >= 100.0 => format!("{large:.0}"),
        _ => format!("{ratio:.2}"),
    });
    [
        case.to_owned(),
        row.subject.clone(),
        median,
        p90,
        ratio,
        goals.join("; "),
    ]
}

/// A figure in nanoseconds, as people read it.
pub(super) fn show(nanoseconds: f64, shown: Shown) -> String {
    if shown == Shown::PerSecond {
        return grouped(1e9 / nanoseconds);
    }
    match nanoseconds {
        time if time < 1e3 => format!("{time:.0} ns"),
        time if time < 1e4 => format!("{:.2} us", time / 1e3),
        time if time < 1e7 => format!("{:.0} us", time / 1e3),
        time if time < 1e9 => format!("{:.0} ms", time / 1e6),
        time => format!("{:.2} s", time / 1e9),
    }
}

/// With commas; three digits count, or two of a small number.
fn grouped(number: f64) -> String {
    if number < 10.0 {
        return format!("{number:.1}");
    }
    let step = 10_f64.powf((number.log10().floor() - 2.0).max(0.0));
    let digits = format!("{:.0}", (number / step).round() * step);
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Cells in columns, as a table of Markdown that reads well without being rendered.
fn grid(lines: &[[String; 6]]) -> String {
    // A complaint may be longer than its column: it has no neighbour to push away.
    const WIDEST: usize = 66;
    let mut widths = [0; 6];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    for line in lines {
        let said = line.get(2).is_some_and(|cell| cell.contains(": "));
        if said && let Some(width) = widths.get_mut(2) {
            *width = (*width).min(12);
        }
    }
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
            // Figures stand below each other.
            let _ = match column {
                2..=4 => write!(text, "| {cell:>width$} "),
                _ => write!(text, "| {cell:<width$} "),
            };
        }
        text.push_str("|\n");
        if at == 0 {
            for (column, width) in widths.into_iter().enumerate() {
                let end = if matches!(column, 2..=4) { ":" } else { "-" };
                let _ = write!(text, "|{:-<1$}{end}", "", width + 1);
            }
            text.push_str("|\n");
        }
    }
    text
}

/// Where, when and as whom.
pub(super) fn circumstances(report: &Report) -> String {
    let host = &report.host;
    let processor = report.processor.as_deref().unwrap_or("unknown");
    let load = report.load.as_deref().unwrap_or("unknown");
    format!(
        "{}, kernel {}, {} processors ({processor}), load {load} before it began, as {}; build: {}.\n",
        host.date, host.kernel, host.processors, host.user, report.build
    )
}

/// The page with everything.
pub(super) fn page(reports: &[Report], command: &str) -> String {
    let mut text = format!(
        "# Measured\n\n\
         Generated from one run of `{command}`; [how to read it](README.md). The figures themselves are in\n\
         [measured.json](measured.json), in nanoseconds.\n\n\
         ![What a launch of /bin/true costs]({})\n",
        super::plot::FILE
    );
    for report in reports {
        let _ = write!(text, "\n## As {}\n\n", report.host.user);
        text.push_str(&circumstances(report));
        for one in &report.tables {
            text.push('\n');
            text.push_str(&table(one));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_as_people_read_them() {
        let time = |nanoseconds| show(nanoseconds, Shown::Time);
        let shown = [80.4, 1_234.0, 912_345.0, 45_600_000.0, 2.5e9].map(time);
        assert_eq!(shown, ["80 ns", "1.23 us", "912 us", "46 ms", "2.50 s"]);
        let rate = |nanoseconds| show(nanoseconds, Shown::PerSecond);
        assert_eq!([476.2, 1.25e6, 5e8].map(rate), ["2,100,000", "800", "2.0"]);
    }
}

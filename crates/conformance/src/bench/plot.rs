//! One picture: what a launch costs in every way there is, on a logarithmic scale, because the slowest is hundreds of times
//! the quickest. Written by hand as SVG, with its own background, so that it reads on light and on dark pages.

use std::fmt::Write as _;

use super::page::show;
use super::result::{Report, Row, Shown, Whose};
use super::tables::{LAUNCH, TRUE};

/// The name of the file.
pub(super) const FILE: &str = "launch.svg";

const WIDTH: f64 = 900.0;
/// Where bars begin, and where the longest may end: figures stand behind it.
const LEFT: f64 = 372.0;
const RIGHT: f64 = 748.0;
const TOP: f64 = 84.0;
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;

const STYLE: &str = "\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 }
.small { font-size: 12px; fill: #59636e }
.figure { font-variant-numeric: tabular-nums }
.back { fill: #ffffff; stroke: #d1d9e0 }
.line { stroke: #d1d9e0 }
.bare { fill: #818b98 }
.ours { fill: #0969da }
.peer { fill: #bc6c00 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .small { fill: #9198a1 }
  .back { fill: #0d1117; stroke: #3d444d }
  .line { stroke: #3d444d }
  .bare { fill: #9198a1 }
  .ours { fill: #4493f8 }
  .peer { fill: #d29922 }
}
";

/// The picture of a report that measured launches.
pub(super) fn launches(report: &Report) -> Option<String> {
    let table = report.tables.iter().find(|table| table.name == LAUNCH)?;
    let mut bars: Vec<Bar<'_>> = table.rows.iter().filter_map(Bar::of).collect();
    bars.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    let most = bars.last()?.ratio;
    let scale = Scale::up_to(most);
    let height = TOP + ROW * bars.len() as f64 + 46.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-label=\"What a launch of /bin/true costs, as a multiple of a bare \
         one\">\n<style>\n{STYLE}</style>\n\
         <rect class=\"back\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        WIDTH - 1.0,
        height - 1.0
    );
    words(
        &mut svg,
        "title",
        20.0,
        30.0,
        "What a launch of /bin/true costs",
    );
    let host = &report.host;
    let where_and_when = format!(
        "median, as a multiple of a bare posix_spawn, logarithmic; {}, kernel {}, {} processors, as {}",
        host.date, host.kernel, host.processors, host.user
    );
    words(&mut svg, "small", 20.0, 50.0, &where_and_when);
    let bottom = TOP + ROW * bars.len() as f64;
    for tick in scale.ticks() {
        let x = scale.place(f64::from(tick));
        let _ = writeln!(
            svg,
            "<line class=\"line\" x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>",
            TOP - 6.0
        );
        let _ = writeln!(
            svg,
            "<text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}x</text>",
            TOP - 12.0
        );
    }
    for (at, bar) in bars.iter().enumerate() {
        bar.draw(&mut svg, &scale, TOP + ROW * at as f64);
    }
    legend(&mut svg, bottom + 26.0);
    svg.push_str("</svg>\n");
    Some(svg)
}

/// One bar.
struct Bar<'a> {
    name: &'a str,
    class: &'static str,
    ratio: f64,
    median: f64,
}

impl<'a> Bar<'a> {
    /// Of a row that was measured with the program that is plotted.
    fn of(row: &'a Row) -> Option<Self> {
        let (ratio, median) = row.ratio.zip(row.median())?;
        (row.case == TRUE).then_some(Self {
            name: &row.subject,
            class: class(row.whose),
            ratio,
            median,
        })
    }

    fn draw(&self, svg: &mut String, scale: &Scale, y: f64) {
        let (middle, top) = (y + ROW / 2.0 + 4.5, y + (ROW - BAR) / 2.0);
        let end = scale.place(self.ratio);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 10.0,
            escaped(&self.name.replace('`', ""))
        );
        // A bare launch is 1, where a logarithm begins: it would be no bar at all.
        let _ = writeln!(
            svg,
            "<rect class=\"{}\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"2\"/>",
            self.class,
            (end - LEFT).max(3.0)
        );
        let figure = format!("{}x, {}", ratio(self.ratio), show(self.median, Shown::Time));
        words(svg, "figure", end.max(LEFT + 3.0) + 8.0, middle, &figure);
    }
}

/// Where a multiple is.
struct Scale {
    most: f64,
}

impl Scale {
    fn up_to(most: f64) -> Self {
        Self {
            most: most.max(2.0),
        }
    }

    fn place(&self, multiple: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (multiple.max(1.0).ln() / self.most.ln())
    }

    /// 1, 2, 5, 10 and so on, as far as bars reach.
    fn ticks(&self) -> Vec<u32> {
        let decades = [1, 10, 100, 1000, 10_000];
        let steps = decades
            .into_iter()
            .flat_map(|decade| [1, 2, 5].map(|step| step * decade));
        steps.filter(|tick| f64::from(*tick) <= self.most).collect()
    }
}

fn legend(svg: &mut String, y: f64) {
    let mut x = LEFT;
    for (whose, name) in [
        (Whose::Bare, "no sandbox"),
        (Whose::Ours, "Palisade"),
        (Whose::Peer, "others"),
    ] {
        let _ = writeln!(
            svg,
            "<rect class=\"{}\" x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\"/>",
            class(whose),
            y - 10.0
        );
        words(svg, "small", x + 18.0, y, name);
        x += 110.0;
    }
}

const fn class(whose: Whose) -> &'static str {
    match whose {
        Whose::Bare => "bare",
        Whose::Ours => "ours",
        Whose::Peer => "peer",
    }
}

fn ratio(ratio: f64) -> String {
    match ratio {
        large if large >= 20.0 => format!("{large:.0}"),
        _ => format!("{ratio:.2}"),
    }
}

fn words(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let text = escaped(text);
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

//! Pages as text: escaping, bounds, nothing from outside.

use super::*;
use crate::model::Timestamp;

const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'&</script><script>";

fn page_with(plot: Plot) -> String {
    Page::new("t", "icache").section(Section::new("s").plot(plot)).to_html().unwrap()
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn what_callers_wrote_is_shown_and_never_run() {
    let mut table = Table::new(HOSTILE, &[HOSTILE, ">n"]);
    table.row([HOSTILE, HOSTILE]);
    let plot = Plot::lines(HOSTILE, HOSTILE, Unit::Share)
        .x(X::Names(vec![HOSTILE.to_owned()]))
        .series(Series::new(HOSTILE, [0.5]))
        .series(Series::new(HOSTILE, [0.5]));
    let html = Page::new(HOSTILE, HOSTILE)
        .lead(HOSTILE)
        .fact(Fact::new(HOSTILE, HOSTILE).note(HOSTILE))
        .section(Section::new(HOSTILE).text(HOSTILE).list([HOSTILE.to_owned()]).table(table).plot(plot))
        .data(&serde_json::json!({ HOSTILE: HOSTILE }))
        .unwrap()
        .to_html()
        .unwrap();
    assert_eq!(count(&html, "<img"), 0);
    assert_eq!((count(&html, "<script"), count(&html, "</script>")), (1, 1), "only the data");
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"));
    let data = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(data).unwrap()[HOSTILE], HOSTILE);
}

#[test]
fn nothing_comes_from_outside() {
    let html = page_with(
        Plot::lines("t", "d", Unit::Micros).x(X::Seconds(vec![0.0])).series(Series::new("a", [1.0])),
    );
    for reference in ["http://", "https://", "src=", "href=", "@import", "url(http", "style=\""] {
        assert_eq!(count(&html, reference), 0, "{reference}");
    }
    assert!(html.contains("default-src 'none'; style-src 'sha256-"));
}

#[test]
fn the_policy_names_the_style_that_is_there() {
    let html = page_with(Plot::lines("t", "d", Unit::Share));
    let style = html.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(style.as_bytes()));
    assert!(html.contains(&format!("'sha256-{digest}'")));
}

#[test]
fn columns_are_merged_one_over_the_limit_and_keep_their_sum() {
    let plot = |count: usize| {
        let times = (0..count).map(|at| Timestamp::from_us(at as i64 * 1_000_000)).collect();
        page_with(
            Plot::stacked("t", "d", Unit::Count("lookups"), Merge::Sum)
                .x(X::Times(times))
                .series(Series::new("a", vec![1.0; count])),
        )
    };
    let columns = |html: &str| {
        let layer =
            html.split("<g class=\"fill f0\">").nth(1).unwrap().split("</g>").next().unwrap().to_owned();
        count(&layer, "<rect")
    };
    let at_limit = plot(MAX_COLUMNS);
    assert_eq!(columns(&at_limit), MAX_COLUMNS);
    assert!(!at_limit.contains("stands for"));
    let over = plot(MAX_COLUMNS + 1);
    assert_eq!(columns(&over), MAX_COLUMNS / 2 + 1);
    assert!(over.contains("Each column stands for 2 intervals."));
    assert!(over.contains("\na: 2</title>"), "the first column has both");
}

#[test]
fn series_over_the_limit_become_one_or_are_left_out() {
    let with = |plot: Plot, series: usize| {
        let plot = plot.x(X::Names(vec!["x".to_owned()]));
        page_with((0..series).fold(plot, |plot, at| plot.series(Series::new(&format!("n{at}"), [1.0]))))
    };
    let stack = || Plot::stacked("t", "d", Unit::Count("lookups"), Merge::Sum);
    let at_limit = with(stack(), MAX_SERIES);
    assert!(at_limit.contains("n7: 1") && !at_limit.contains("other"));
    let over = with(stack(), MAX_SERIES + 1);
    assert!(over.contains("other: 2") && !over.contains("n7"));
    let lines = with(Plot::lines("t", "d", Unit::Share), MAX_SERIES + 1);
    assert!(lines.contains("1 more series are left out.") && !lines.contains("n8"));
}

#[test]
fn rows_and_texts_are_bounded() {
    let rows = |count: usize| {
        let mut table = Table::new("c", &["a", ">b"]);
        for at in 0..count {
            table.row([at.to_string(), "1".to_owned()]);
        }
        Page::new("t", "icache").section(Section::new("s").table(table)).to_html().unwrap()
    };
    let at_limit = rows(MAX_ROWS);
    assert_eq!((count(&at_limit, "<th scope=\"row\">"), count(&at_limit, " more")), (MAX_ROWS, 0));
    let over = rows(MAX_ROWS + 1);
    assert_eq!((count(&over, "<th scope=\"row\">"), count(&over, "and 1 row more")), (MAX_ROWS, 1));
    let text = |length: usize| Page::new(&"x".repeat(length), "icache").to_html().unwrap();
    assert!(!text(MAX_TEXT).contains('…') && text(MAX_TEXT + 1).contains('…'));
}

/// Nothing, one point, gaps, values that are no number: always a page.
#[test]
fn odd_data_make_a_page() {
    for values in [vec![], vec![1.0], vec![f64::NAN, 2.0], vec![0.0; 3], vec![-1.0, 1e300]] {
        for x in [
            X::Seconds((0..values.len()).map(|at| at as f64).collect()),
            X::Seconds(vec![0.0; values.len()]),
            X::Times(vec![Timestamp::MIN; values.len()]),
            X::Names(vec![String::new(); values.len()]),
        ] {
            for unit in [Unit::Count("things"), Unit::Share, Unit::Micros, Unit::Other("things")] {
                let lines = Plot::lines("t", "d", unit).x(x.clone()).series(Series::new("a", values.clone()));
                let stack = Plot::stacked("t", "d", unit, Merge::Mean)
                    .x(x.clone())
                    .series(Series::new("a", values.clone()));
                for html in [page_with(lines), page_with(stack)] {
                    assert!(!html.contains("NaN") && !html.contains("inf"), "{values:?} {x:?}");
                }
            }
        }
    }
}

#[test]
fn a_page_is_moved_to_its_place_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, "before").unwrap();
    Page::new("after", "icache").write(&path).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("<h1>after</h1>"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(Page::new("t", "icache").write(&folder.path().join("none/page.html")).is_err());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_to_and_a_link_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (page, link) = (folder.path().join("page.html"), folder.path().join("link.html"));
    std::fs::write(&page, "before").unwrap();
    std::os::unix::fs::symlink("page.html", &link).unwrap();
    Page::new("after", "icache").write(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&page).unwrap().contains("<h1>after</h1>"));
    // A link to a device, so that nothing is lost where it is replaced all the same.
    let device = folder.path().join("device");
    std::os::unix::fs::symlink("/dev/full", &device).unwrap();
    let refused = Page::new("t", "icache").write(&device).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::StorageFull);
    assert!(std::fs::symlink_metadata(&device).unwrap().is_symlink());
}

//! Pages of the real binary in a real browser: no complaint, no request, no overflow on a phone, dark in the dark, and
//! whole on paper. The pictures are left in `target/tmp/html-pages` for people to look at.

mod browser;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use browser::{Browser, Screen, Tab};
use serde_json::Value;
use tempfile::TempDir;

const PHONE: Screen = Screen { width: 360, is_dark: false };
const DESK: Screen = Screen { width: 1_280, is_dark: false };
const DARK: Screen = Screen { width: 1_280, is_dark: true };
const DARK_PHONE: Screen = Screen { width: 360, is_dark: true };

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path)
}

/// Where pictures are left.
fn pictures() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("html-pages");
    std::fs::create_dir_all(&folder).expect("the folder for pictures can be made");
    folder
}

/// The page that `icache replay ARGS --html` writes.
fn page_of(args: &[&str]) -> (TempDir, PathBuf) {
    page_by("replay", args)
}

/// The page that a command writes with `--html`.
fn page_by(command: &str, args: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let page = folder.path().join("page.html");
    let output = Command::cargo_bin("icache")
        .expect("the binary is built")
        .arg(command)
        .args(args)
        .arg("--html")
        .arg(&page)
        .output()
        .expect("the binary runs");
    assert!(page.is_file(), "{}", String::from_utf8_lossy(&output.stderr));
    (folder, page)
}

/// The page of the fleet capture, all of whose answers are compared.
fn fleet_page() -> (TempDir, PathBuf) {
    page_of(&[&testdata("fleet/fleet.capture.jsonl").display().to_string(), "--check"])
}

/// Width, height and the red, green and blue of the first pixel of a picture.
fn first_pixel(picture: &[u8]) -> (u32, u32, [u8; 3]) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().expect("it is a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("the picture has a size")];
    let info = reader.next_frame(&mut pixels).expect("it is a PNG");
    (info.width, info.height, [pixels[0], pixels[1], pixels[2]])
}

fn take(tab: &mut Tab<'_>, name: &str) -> (u32, u32, [u8; 3]) {
    let picture = tab.screenshot();
    std::fs::write(pictures().join(format!("{name}.png")), &picture).expect("a picture can be written");
    first_pixel(&picture)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// How far the page reaches beyond the screen, in pixels.
fn overflow(tab: &mut Tab<'_>) -> f64 {
    number(&tab.value("document.documentElement.scrollWidth - window.innerWidth"))
}

/// Texts of plots that reach beyond the screen.
const CUT_TEXTS: &str = "[...document.querySelectorAll('svg.plot text')].filter(text => { const box = \
                         text.getBoundingClientRect(); return box.width > 0 && (box.left < 0 || box.right > \
                         window.innerWidth) }).map(text => text.textContent)";

/// Pairs of neighbouring labels of an axis that lie on each other.
const OVERLAPS: &str = "[...document.querySelectorAll('svg.plot')].flatMap(plot => { const boxes = \
                        [...plot.querySelectorAll('text.tick')].map(text => text.getBoundingClientRect()).filter(box \
                        => box.width > 0); return boxes.slice(1).filter((box, at) => { const before = boxes[at]; return \
                        box.left < before.right && before.left < box.right && box.top < before.bottom && before.top < \
                        box.bottom }) }).length";

#[test]
fn a_page_is_silent_and_asks_for_nothing() {
    let (_folder, page) = fleet_page();
    let mut browser = Browser::start();
    let mut tab = browser.open(&page, DESK);
    assert_eq!(tab.value("document.title"), "Replay of fleet.capture.jsonl");
    // Unfolding and pointing are all that can be done with it.
    let tables = tab.value(
        "document.querySelectorAll('details').forEach(folded => folded.open = true); \
         document.querySelectorAll('details[open] tbody tr').length",
    );
    assert!(number(&tables) > 100.0, "{tables}");
    assert_eq!(tab.complaints(), [&Value::Null; 0]);
    assert_eq!(tab.requests(), [format!("file://{}", page.display())]);
}

#[test]
fn a_page_shows_what_was_replayed() {
    let (_folder, page) = fleet_page();
    let mut browser = Browser::start();
    let mut tab = browser.open(&page, DESK);
    let facts = tab
        .value("[...document.querySelectorAll('.fact')].map(fact => fact.innerText.replaceAll('\\n', ' '))");
    let facts: Vec<&str> = facts.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(facts.contains(&"lookups 30"), "{facts:?}");
    assert!(facts.contains(&"got a hint 100.0 % 30 of 30"), "{facts:?}");
    assert!(facts.contains(&"index entries at the end 6,000"), "{facts:?}");
    assert!(facts.contains(&"check ✓ all as expected of 30 lookups compared"), "{facts:?}");
    let data = "JSON.parse(document.getElementById('data').textContent)";
    assert_eq!(tab.value(&format!("{data}.lookups")), 30);
    // The columns of the first plot stand for all lookups, and each code has its own.
    let sum = tab.value(&format!("{data}.timeline.buckets.reduce((sum, bucket) => sum + bucket.lookups, 0)"));
    assert_eq!(sum, 30);
    assert_eq!(tab.value("document.querySelectorAll('svg.plot')[0].querySelectorAll('g.fill').length"), 2);
    let names = "[...document.querySelectorAll('svg.plot')].every(plot => plot.getAttribute('role') == 'img' && \
                 plot.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id).textContent))";
    assert_eq!(tab.value(names), true, "every plot has a name and a description");
}

#[test]
fn a_page_fits_a_phone_and_a_desk() {
    let (_folder, page) = fleet_page();
    let mut browser = Browser::start();
    let mut tab = browser.open(&page, PHONE);
    for (screen, name) in [(PHONE, "phone"), (DESK, "desk")] {
        tab.show_on(screen);
        assert!(overflow(&mut tab) <= 0.0, "{name}");
        assert_eq!(tab.value(CUT_TEXTS), Value::Array(Vec::new()), "{name}");
        assert_eq!(tab.value(OVERLAPS), 0, "{name}");
        let size = tab.value("getComputedStyle(document.querySelector('text.tick')).fontSize");
        assert_eq!(size, "12px", "text does not shrink with the plot: {name}");
        let (width, height, pixel) = take(&mut tab, name);
        assert_eq!(width, screen.width);
        assert!(height > 1_500, "the whole page is in the picture: {height}");
        assert!(pixel.iter().all(|part| *part > 230), "light: {pixel:?}");
    }
}

#[test]
fn a_page_is_dark_in_the_dark() {
    let (_folder, page) = fleet_page();
    let mut browser = Browser::start();
    let mut tab = browser.open(&page, DARK);
    for (screen, name) in [(DARK, "dark"), (DARK_PHONE, "dark-phone")] {
        tab.show_on(screen);
        let (_, _, pixel) = take(&mut tab, name);
        assert!(pixel.iter().all(|part| *part < 40), "dark: {pixel:?}");
    }
    let text = tab.value("getComputedStyle(document.body).color.match(/\\d+/g).every(part => part > 200)");
    assert_eq!(text, true, "light text on it");
}

#[test]
fn a_page_prints_light_and_whole() {
    let (_folder, page) = fleet_page();
    let mut browser = Browser::start();
    let mut tab = browser.open(&page, DARK);
    let pdf = tab.printed();
    std::fs::write(pictures().join("printed.pdf"), &pdf).expect("a picture can be written");
    assert!(pdf.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(&pdf);
    let pages = text.matches("/Type /Page\n").count() + text.matches("/Type/Page/").count();
    assert!((2..=6).contains(&pages), "{pages} pages");
    // What the printer's style comes to, asked of the page itself.
    tab.emulate_print();
    for (expression, value) in [
        ("getComputedStyle(document.querySelector('details')).display", "none"),
        ("getComputedStyle(document.documentElement).getPropertyValue('--text')", "#1c1f23"),
        ("getComputedStyle(document.querySelector('.plot-box')).breakInside", "avoid"),
    ] {
        assert_eq!(tab.value(expression), value, "{expression}");
    }
    take(&mut tab, "printed");
}

/// The page of a simulation in which requests pile up at an engine where they are routed badly.
fn simulation_page() -> (TempDir, PathBuf) {
    let trace =
        std::fs::read_to_string(testdata("traces/conversation_trace.jsonl")).expect("the trace is there");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let part = folder.path().join("conversation.jsonl");
    let lines: Vec<&str> = trace.lines().take(1_500).collect();
    std::fs::write(&part, lines.join("\n")).expect("a scratch file can be written");
    // Every hint is followed, so that one engine gets all requests and its waits are of another size than all others.
    let policy = folder.path().join("eager.yaml");
    let eager = "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: eager, namespace: default}\n\
                 spec: {minimumMatchedTokens: 0, routingFloorScore: \"0\"}\n";
    std::fs::write(&policy, eager).expect("a scratch file can be written");
    let (part, policy) = (part.display().to_string(), policy.display().to_string());
    let fleet = ["--replicas", "4", "--prefill-rate", "11000", "--policy", &policy];
    page_by(
        "simulate",
        &[&["--trace", &part, "--route", "reference,round-robin,random"], &fleet[..]].concat(),
    )
}

#[test]
fn a_simulation_page_fits_every_screen_and_paper() {
    let (_folder, page) = simulation_page();
    let mut browser = Browser::start();
    let mut tab = browser.open(&page, PHONE);
    assert_eq!(tab.value("document.title"), "Simulation of conversation.jsonl");
    for (screen, name) in [(PHONE, "phone"), (DESK, "desk"), (DARK, "dark"), (DARK_PHONE, "dark-phone")] {
        tab.show_on(screen);
        assert!(overflow(&mut tab) <= 0.0, "{name}");
        assert_eq!(tab.value(CUT_TEXTS), Value::Array(Vec::new()), "{name}");
        assert_eq!(tab.value(OVERLAPS), 0, "{name}");
        let (width, height, pixel) = take(&mut tab, &format!("simulation-{name}"));
        assert_eq!(width, screen.width);
        assert!(height > 2_000, "the whole page is in the picture: {height}");
        let is_dark = pixel.iter().all(|part| *part < 40);
        assert!(is_dark == screen.is_dark, "{name}: {pixel:?}");
    }
    let lines = "[...document.querySelectorAll('svg.plot')].slice(0, 3).map(plot => plot.querySelectorAll('path.line:not(.dots)').length)";
    assert_eq!(tab.value(lines), serde_json::json!([4, 4, 4]), "a line for each routing");
    let notes = "document.body.innerText.split('The axis is logarithmic.').length - 1";
    assert_eq!(tab.value(notes), 2, "waits of another size do not press the others flat");
    // Times stand on round marks.
    let labels = "[...document.querySelectorAll('svg.plot text.tick')].map(text => text.textContent)";
    let labels = tab.value(labels);
    let labels: Vec<&str> = labels.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(labels.iter().any(|label| label.ends_with(" min")), "{labels:?}");
    assert!(!labels.iter().any(|label| label.contains('.') && label.ends_with(" min")), "{labels:?}");
    tab.show_on(DARK);
    let pdf = tab.printed();
    std::fs::write(pictures().join("simulation-printed.pdf"), &pdf).expect("a picture can be written");
    assert!(pdf.starts_with(b"%PDF-"));
    tab.emulate_print();
    assert_eq!(tab.value("getComputedStyle(document.querySelector('details')).display"), "none");
    take(&mut tab, "simulation-printed");
    assert_eq!(tab.complaints(), [&Value::Null; 0]);
    assert_eq!(tab.requests(), [format!("file://{}", page.display())]);
}

/// Ids come from callers: whatever they hold is text.
#[test]
fn hostile_names_are_text() {
    let hostile = r#"<img src=http://127.0.0.1:9/x onerror=\"document.title='pwned'\"></script><script>document.title='pwned'</script>"#;
    let lookup = |t: u32| {
        format!(
            r#"{{"t":{t},"kind":"lookup","request":{{"tenantId":"{hostile}","modelId":"{hostile}","hashScheme":"vllm","blockHashes":["AQI="],"blockTokenCounts":[64]}},"expect":{{"reasonCode":"PREFIX_MATCH","replicas":["{hostile}"]}}}}"#
        )
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let capture = folder.path().join("<b>&'.jsonl");
    let text = format!("{{\"icache\":\"capture\",\"version\":1}}\n{}\n{}\n", lookup(1), lookup(2));
    std::fs::write(&capture, text).expect("a scratch file can be written");
    let (_page_folder, page) = page_of(&[&capture.display().to_string(), "--check"]);
    let mut browser = Browser::start();
    let mut tab = browser.open(&page, PHONE);
    assert_eq!(tab.value("document.querySelectorAll('img, main script, b').length"), 0);
    assert_eq!(tab.value("document.title"), "Replay of <b>&'.jsonl");
    assert_eq!(tab.value("document.body.innerText.includes('<img src=http://127.0.0.1:9/x onerror=')"), true);
    assert!(overflow(&mut tab) <= 0.0, "long names do not widen the page");
    assert_eq!(tab.value(OVERLAPS), 0, "long labels have room");
    take(&mut tab, "hostile");
    assert_eq!(tab.complaints(), [&Value::Null; 0]);
    assert_eq!(tab.requests().len(), 1, "{:?}", tab.requests());
}

//! The colours of a page, in the light and in the dark.
//!
//! The series colours start from the colour-blind safe palette of Okabe and Ito, darkened or lightened until each stands
//! out from the paper it lies on; a test holds every contrast against WCAG 2.2 (text 4.5 to 1, shapes 3 to 1).

use super::limits::MAX_SERIES;

/// One colour of text or ground: name, in the light, in the dark.
const BASE: [(&str, &str, &str); 8] = [
    ("ground", "#f6f7f9", "#111317"),
    ("paper", "#ffffff", "#191b1f"),
    ("text", "#1c1f23", "#e7e9ec"),
    ("faint", "#59616b", "#a3abb5"),
    ("rule", "#d9dde2", "#33373d"),
    ("good", "#0b6b3a", "#5fd38d"),
    ("bad", "#b3261e", "#ff8a80"),
    ("accent", "#0072b2", "#56b4e9"),
];

/// The series, in the light and in the dark.
const SERIES: [(&str, &str); MAX_SERIES] = [
    ("#0072b2", "#56b4e9"),
    ("#c05000", "#f0883e"),
    ("#008060", "#2fbf8f"),
    ("#a3487f", "#e58fc0"),
    ("#8a6d00", "#e6c229"),
    ("#5b4bb5", "#a89bf0"),
    ("#3c8dbc", "#9fd3f2"),
    ("#5f5f5f", "#b0b0b0"),
];

/// Custom properties of both, with the dark ones for screens alone: paper is white.
pub(super) fn variables() -> String {
    let set = |is_dark: bool| {
        let base = BASE
            .iter()
            .map(|(name, light, dark)| format!("--{name}:{};", if is_dark { dark } else { light }));
        let series = SERIES
            .iter()
            .enumerate()
            .map(|(at, (light, dark))| format!("--s{at}:{};", if is_dark { dark } else { light }));
        base.chain(series).collect::<String>()
    };
    format!(
        ":root{{color-scheme:light dark;{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n@media \
         print{{:root{{color-scheme:light}}}}\n",
        set(false),
        set(true)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG defines it.
    fn luminance(color: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (a, b) = (luminance(one), luminance(other));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn base(name: &str) -> [&'static str; 2] {
        let (_, light, dark) = BASE.iter().find(|(known, ..)| *known == name).unwrap();
        [light, dark]
    }

    #[test]
    fn text_and_series_stand_out_in_both_themes() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        for theme in [0, 1] {
            let (paper, ground) = (base("paper")[theme], base("ground")[theme]);
            for text in ["text", "faint", "good", "bad", "accent"] {
                let color = base(text)[theme];
                assert!(contrast(color, paper) >= 4.5 && contrast(color, ground) >= 4.5, "{text} {color}");
            }
            for (light, dark) in SERIES {
                let color = [light, dark][theme];
                assert!(contrast(color, paper) >= 3.0, "{color}");
            }
        }
    }
}

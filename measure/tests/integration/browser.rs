//! The report in a browser: at the width of a desk and of a phone.

use std::process::Command;

use crate::suite::{folder, said, suite};

/// Looks at the page from inside. It is added to a copy of the report, which has no scripts of its own.
const LOOK: &str = "<script>addEventListener('load', () => {
    const all = name => [...document.querySelectorAll(name)];
    const wide = element => element.getBoundingClientRect().width;
    const found = {
        beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        bars: all('.bar b').length,
        empty: all('.bar b').filter(bar => !(wide(bar) > 0)).length,
        tables: all('table').length,
        bare: all('table').filter(table => !/[0-9]/.test(table.tBodies[0].textContent)).length,
        charts: all('svg.chart').length,
        blank: all('svg.chart').filter(chart => !(wide(chart) > 100) || !chart.querySelector('polyline, path')).length,
        unnamed: all('table').filter(table => !table.caption || !table.querySelector('th[scope]')).length,
    };
    document.title = 'looked ' + Object.values(found).join(' ');
});</script>";

#[test]
fn the_report_is_whole_in_a_browser_at_two_sizes() {
    if Command::new("chromium").arg("--version").output().is_err() {
        abz_foreign::leave_out("the report in a browser (apt-get install chromium)");
        return;
    }
    let folder = folder("browser");
    let out = folder.to_str().expect("a path in UTF-8");
    let ran = suite(&[
        "run",
        "--tiny",
        "--apps",
        "log,micro/500,latency,queue,bursts,skew,stages",
        "--variants",
        "builder",
        "--out",
        out,
    ]);
    assert!(ran.status.success(), "{}", said(&ran));
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    let copy = folder.join("looked.html");
    std::fs::write(&copy, page.replace("</head>", &format!("{LOOK}</head>"))).unwrap();
    for size in ["1280,900", "390,844"] {
        let mut browser = Command::new("chromium");
        browser.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            "--enable-logging=stderr",
        ]);
        browser.arg(format!("--user-data-dir={out}/profile")).arg(format!("--window-size={size}"));
        let looked = browser.arg(format!("file://{}", copy.display())).output().expect("it is installed");
        let messages = said(&looked);
        let dom = String::from_utf8_lossy(&looked.stdout);
        let Some((_, title)) = dom.split_once("<title>looked ") else {
            abz_foreign::leave_out("the report in a browser (chromium is installed and does not show pages)");
            return;
        };
        assert!(!messages.contains("CONSOLE"), "{size}: {messages}");
        let numbers: Vec<i64> = title
            .split_once('<')
            .map_or(title, |(title, _)| title)
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        let [beyond, bars, empty, tables, bare, charts, blank, unnamed] = numbers[..] else {
            panic!("{numbers:?}")
        };
        assert!(beyond <= 0, "{size}: the page is {beyond} pixels wider than the window");
        assert!(bars > 5 && empty == 0, "{size}: {empty} of {bars} bars are empty");
        assert!(charts > 0 && blank == 0, "{size}: {blank} of {charts} charts are blank");
        assert!(
            tables > 3 && bare == 0 && unnamed == 0,
            "{size}: {tables} tables, {bare} bare, {unnamed} unnamed"
        );
    }
}

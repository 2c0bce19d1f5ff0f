//! A program with one long function, with and without annotations.

/// A function of 500 lines has this many loops of 25 lines.
pub const LOOPS: usize = 20;

/// A program, and whether it has annotations.
pub const SOURCES: [(&str, bool); 2] = [("annotated500", true), ("plain500", false)];

/// A program with one function of 500 lines. With annotations it has as many as its loops need.
pub fn source(is_annotated: bool) -> String {
    let mark = |text: &'static str| if is_annotated { text } else { "" };
    let one = |number: usize| {
        let steps: String =
            (0..6).map(|step| format!("            word = word.rotate_left({step}) ^ {number};\n")).collect();
        format!(
            "    let mut total{number} = 0u64;\n    {to_stream}\n    for n in 0..limit {{\n\
             \x20       if n % 7 == 3 {{\n            continue;\n        }}\n\
             \x20       let start = n.wrapping_mul({number});\n        {replicate}\n\
             \x20       let word = {{\n            let mut word = start;\n{steps}            word\n        }};\n\
             \x20       {stage}\n        if word % 11 == 0 {{\n\
             \x20           return Err(format!(\"{{word}}\"));\n        }}\n\
             \x20       total{number} = total{number}.wrapping_add(word);\n    }}\n\
             \x20   all = all.wrapping_add(total{number});\n",
            to_stream = mark("#[to_stream]"),
            replicate = mark("#[stage(replicate)]"),
            stage = mark("#[stage]"),
        )
    };
    let body: String = (1..=LOOPS).map(one).collect();
    format!(
        "{stream}\nfn long(limit: u64) -> Result<u64, String> {{\n    let mut all = 0u64;\n{body}    Ok(all)\n}}\n\n\
         fn main() {{\n    println!(\"{{:?}}\", long(100));\n}}\n",
        stream = mark("#[anabranch::stream]"),
    )
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn the_function_has_500_lines_and_a_few() {
        let text = source(true);
        let function = text.split("\n}\n").next().unwrap();
        assert_eq!(function.lines().count(), 20 * 25 + 4);
        assert_eq!(text.matches("#[to_stream]").count(), 20);
        assert!(!source(false).contains("#["));
    }
}

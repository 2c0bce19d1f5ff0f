//! The type of an item, as text.

use std::borrow::Cow;

/// The type of the items on an edge, as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ItemType {
    /// The name of the type with its module paths, from [`std::any::type_name`]. It is for people and not for
    /// comparison.
    pub name: Cow<'static, str>,
    /// The size of the value itself in bytes, without the memory that it owns on the heap.
    pub size: usize,
}

impl ItemType {
    /// The name and size of `T`.
    ///
    /// ```
    /// use anabranch_plan::ItemType;
    ///
    /// assert_eq!(ItemType::of::<u64>(), ItemType { name: "u64".into(), size: 8 });
    /// ```
    pub fn of<T>() -> Self {
        ItemType { name: std::any::type_name::<T>().into(), size: size_of::<T>() }
    }

    /// The name without module paths.
    ///
    /// ```
    /// use anabranch_plan::ItemType;
    ///
    /// assert_eq!(ItemType::of::<Vec<Option<String>>>().short_name(), "Vec<Option<String>>");
    /// ```
    pub fn short_name(&self) -> String {
        let mut short = String::with_capacity(self.name.len());
        let mut rest = &*self.name;
        // A path is a run of segments joined by `::`, and only its last segment is kept. A `::` that follows
        // something else (`<T as Trait>::Item`) is not part of a path, and stays.
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|c| !is_segment(c)).unwrap_or(rest.len());
            if end == 0 {
                let width = if rest.starts_with("::") { 2 } else { first.len_utf8() };
                short.push_str(&rest[..width]);
                rest = &rest[width..];
                continue;
            }
            let after = &rest[end..];
            match after.strip_prefix("::") {
                Some(tail) if tail.starts_with(is_segment) => rest = tail,
                _ => {
                    short.push_str(&rest[..end]);
                    rest = after;
                }
            }
        }
        short
    }
}

// `{` and `}` occur in `{{closure}}`, and `#` in raw identifiers and numbered closures.
fn is_segment(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '#' | '{' | '}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(name: &'static str) -> String {
        ItemType { name: name.into(), size: 0 }.short_name()
    }

    #[test]
    fn a_short_name_has_no_module_paths_at_any_depth() {
        assert_eq!(short("u8"), "u8");
        assert_eq!(short("()"), "()");
        assert_eq!(short("alloc::vec::Vec<core::option::Option<a::b::C>>"), "Vec<Option<C>>");
        assert_eq!(short("(usize, [a::B; 4], &mut c::D)"), "(usize, [B; 4], &mut D)");
        assert_eq!(
            short("alloc::boxed::Box<dyn core::ops::Fn(a::B) -> c::D + Send>"),
            "Box<dyn Fn(B) -> D + Send>"
        );
    }

    #[test]
    fn a_short_name_keeps_what_is_not_a_module_path() {
        assert_eq!(short("abz::main::{{closure}}"), "{{closure}}");
        assert_eq!(short("<a::B as c::Iterator>::Item"), "<B as Iterator>::Item");
        assert_eq!(short("a::Größe<b::r#type>"), "Größe<r#type>");
        assert_eq!(short(""), "");
        assert_eq!(short("::"), "::");
    }
}

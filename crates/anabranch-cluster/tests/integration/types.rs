//! Values of many types: what travels is what was sent, or an error says why not.
//!
//! Types are drawn from what `serde` can say of them: each form of structures and enums holds each kind of value, and each other form. In
//! a debug build, `Cluster::local` gives the function what a worker would get.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;

use anabranch::Stream;
use anabranch_cluster::{Cluster, Functions, RemoteError, prelude::*};
use bytes::Bytes;
use futures_util::FutureExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use fastrand::Rng;

/// Values of a type, at random.
trait Draw: Sized {
    fn draw(random: &mut Rng) -> Self;
}

/// Implements it for types by an expression with the random numbers.
macro_rules! draw {
    ($([$($of:tt)*] $type:ty: |$random:ident| $draw:expr;)*) => {$(
        impl<$($of)*> Draw for $type {
            fn draw($random: &mut Rng) -> Self {
                $draw
            }
        }
    )*};
}

fn edges<T: Copy>(random: &mut Rng, values: &[T]) -> T {
    values[random.u64(..values.len() as u64) as usize]
}

draw! {
    [] (): |_random| ();
    [] bool: |random| random.u64(..2) == 0;
    [] u8: |random| edges(random, &[0, 1, 127, 128, 255]);
    [] i64: |random| edges(random, &[i64::MIN, -129, -128, -1, 0, 127, 128, 65_536, 1 << 40, i64::MAX]);
    [] u64: |random| edges(random, &[0, 127, 256, 1 << 31, 1 << 32, u64::MAX]);
    [] i128: |random| edges(random, &[i128::MIN, -1, 0, 1 << 63, 1 << 64, i128::MAX]);
    [] u128: |random| edges(random, &[0, 1 << 64, u128::MAX]);
    [] f64: |random| edges(random, &[0.0, -0.0, 1.5, f64::MAX, f64::INFINITY, f64::MIN_POSITIVE]);
    [] f32: |random| edges(random, &[0.0, -0.1, 3.4e38]);
    [] char: |random| edges(random, &['a', '\0', 'ß', '\u{10ffff}']);
    [] String: |random| "aé漢".repeat(edges(random, &[0, 1, 40, 300]));
    [] Bytes: |random| vec![7; edges(random, &[0, 1, 127, 128, 70_000])].into();
    [T: Draw] Option<T>: |random| (random.u64(..2) == 0).then(|| T::draw(random));
    [T: Draw] Vec<T>: |random| (0..random.u64(..4)).map(|_| T::draw(random)).collect();
    [T: Draw, U: Draw] (T, U): |random| (T::draw(random), U::draw(random));
    [T: Draw] BTreeMap<(u8, bool), T>: |random| Vec::<((u8, bool), T)>::draw(random).into_iter().collect();
    [T: Draw] HashMap<i64, T>: |random| (0..20).map(|key| (key * 1_000 - 7_000, T::draw(random))).collect();
    [] HashSet<String>: |random| (0..20 + random.u64(..9)).map(|n| n.to_string()).collect();
    [] BTreeSet<Option<u8>>: |random| [None, Some(u8::draw(random))].into();
    [] std::net::IpAddr: |random| if bool::draw(random) { [127, 0, 0, 1].into() } else { [1, 2, 3, 4, 5, 6, 7, 8].into() };
    [] std::time::Duration: |random| std::time::Duration::from_nanos(u64::draw(random));
}

/// Defines forms of types around a value, and draws them.
macro_rules! forms {
    ($($(#[$attribute:meta])* $kind:ident $name:ident { $($body:tt)* } draw |$random:ident| $draw:expr;)*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        $(#[$attribute])*
        $kind $name<T> { $($body)* }

        impl<T: Draw> Draw for $name<T> {
            fn draw($random: &mut Rng) -> Self {
                $draw
            }
        }
    )*};
}

forms! {
    struct Fields { before: u8, value: T, after: String }
        draw |random| Self { before: 3, value: T::draw(random), after: String::draw(random) };
    #[serde(bound(deserialize = "T: Deserialize<'de>"))]
    struct Skipped {
        #[serde(skip_serializing_if = "Option::is_none", default)] first: Option<T>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")] list: Vec<T>,
        #[serde(rename = "other")] last: u8,
    } draw |random| Self { first: Draw::draw(random), list: Draw::draw(random), last: 9 };
    struct Flat { name: String, #[serde(flatten)] inner: Fields<T>, #[serde(flatten)] rest: BTreeMap<String, u8> }
        draw |random| Self {
            name: String::draw(random), inner: Draw::draw(random),
            rest: (0..random.u64(..3)).map(|n| (format!("more{n}"), u8::draw(random))).collect(),
        };
    struct FlatOption { #[serde(flatten)] inner: Option<Fields<T>>, always: bool }
        draw |random| Self { inner: Draw::draw(random), always: true };
    enum Usual { Unit, New(T), Tuple(u8, T), Fields { value: T } }
        draw |random| match random.u64(..4) {
            0 => Self::Unit,
            1 => Self::New(T::draw(random)),
            2 => Self::Tuple(1, T::draw(random)),
            _ => Self::Fields { value: T::draw(random) },
        };
    #[serde(tag = "kind", rename_all = "kebab-case")]
    enum Tagged { UnitOne, Inner(Fields<T>), WithFields { value: T, more: u8 } }
        draw |random| match random.u64(..3) {
            0 => Self::UnitOne,
            1 => Self::Inner(Draw::draw(random)),
            _ => Self::WithFields { value: T::draw(random), more: 7 },
        };
    #[serde(tag = "t", content = "c")]
    enum Adjacent { Unit, New(T), Tuple(T, u8), Fields { value: T } }
        draw |random| match random.u64(..4) {
            0 => Self::Unit,
            1 => Self::New(T::draw(random)),
            2 => Self::Tuple(T::draw(random), 1),
            _ => Self::Fields { value: T::draw(random) },
        };
    #[serde(untagged)]
    enum Untagged { One { only_here: T }, Two { value: T, and: u8 }, Pair((T, u8, u8)) }
        draw |random| match random.u64(..3) {
            0 => Self::One { only_here: T::draw(random) },
            1 => Self::Two { value: T::draw(random), and: 2 },
            _ => Self::Pair((T::draw(random), 1, 2)),
        };
}

/// A value goes through a function that returns it, as a result or as an error.
fn same<T: Draw + Debug + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static>() {
    let back = |(is_good, value): (bool, T)| if is_good { Ok(value) } else { Err(value) };
    let functions = Functions::new("types", "1").function("back", back);
    let back = Cluster::local().function::<(bool, T), T, T>(&functions, "back").unwrap();
    let mut random = Rng::with_seed(7);
    for n in 0..24 {
        let value = T::draw(&mut random);
        let is_good = n % 2 == 0;
        let result = back.call((is_good, value.clone())).now_or_never().expect("nothing is waited for here");
        let expected = if is_good { Ok(value) } else { Err(RemoteError::Own(value)) };
        assert!(result == expected, "{}: {result:?} is not {expected:?}", std::any::type_name::<T>());
    }
}

/// All forms around a value, in one, which is quicker to compile.
type Structures<T> = (Fields<T>, (Skipped<T>, (Flat<T>, FlatOption<T>)));
type Enums<T> = (Usual<T>, (Tagged<T>, (Adjacent<T>, Untagged<T>)));

macro_rules! each_form_of {
    ($($type:ty),* $(,)?) => {$(
        same::<($type, (Structures<$type>, Enums<$type>))>();
    )*};
}

#[test]
fn each_kind_of_value_travels_in_each_form() {
    each_form_of!(
        ((bool, f64), (i64, (char, (f32, String)))),
        (u64, ((), Option<Option<()>>)),
        Vec<Option<Bytes>>,
        (BTreeMap<(u8, bool), String>, HashMap<i64, u64>),
        (HashSet<String>, BTreeSet<Option<u8>>),
        (std::net::IpAddr, std::time::Duration),
    );
}

#[test]
fn numbers_of_128_bits_travel_in_the_usual_forms() {
    same::<Fields<(i128, u128)>>();
    same::<Skipped<Option<i128>>>();
    same::<Usual<u128>>();
}

#[test]
fn each_form_travels_in_each_form() {
    each_form_of!(
        (Skipped<u8>, Flat<u8>),
        (FlatOption<Option<()>>, Usual<Option<u8>>),
        (Tagged<i64>, (Adjacent<Option<Option<()>>>, Untagged<String>)),
    );
}

/// The message of a function of this type about one value.
fn refused<T: Serialize + DeserializeOwned + Send + Clone + 'static>(value: T) -> String {
    let functions = Functions::new("types", "1").function("take", |_: T| Ok::<_, ()>(()));
    let take = Cluster::local().function::<T, (), ()>(&functions, "take").unwrap();
    let run = Stream::from_iter([value]).map_remote(&take).count();
    let Err(RemoteError::Undecodable { item: 0, message }) = run else { panic!("{run:?}") };
    message
}

#[test]
fn a_type_that_does_not_travel_is_named_with_the_cure() {
    #[derive(Clone, Serialize, Deserialize)]
    struct NoDefault {
        #[serde(skip_serializing_if = "String::is_empty")]
        text: String,
        number: u8,
    }
    let message = refused(NoDefault { text: String::new(), number: 1 });
    for words in
        ["an item of take(NoDefault)", "missing field `text`", "`skip_serializing_if` needs `default`"]
    {
        assert!(message.contains(words), "{message}");
    }

    #[derive(Clone, Serialize, Deserialize)]
    struct OneWay {
        #[serde(serialize_with = "twice")]
        number: u8,
    }
    fn twice<S: serde::Serializer>(number: &u8, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(number * 2)
    }
    let message = refused(OneWay { number: 3 });
    assert!(message.contains("an item of take(OneWay)") && message.contains("`serialize_with`"), "{message}");

    #[derive(Clone, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Large {
        Number(u128),
    }
    for number in [0, u128::MAX] {
        let message = refused(Large::Number(number));
        assert!(message.contains("a number of 128 bits"), "{message}");
    }

    #[derive(Clone, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum List {
        Numbers(Vec<u8>),
    }
    let message = refused(List::Numbers(vec![1]));
    assert!(message.contains("give the enum `content`"), "{message}");
}

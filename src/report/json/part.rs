//! A macro that writes parts of JSON documents as tables.

/// Defines a part of a document by its keys, each with its type and its value: a struct, and its function `new`.
macro_rules! part {
    ($name:ident $(<$of:tt>)? ($($arg:ident: $type:ty),* $(,)?) {
        $($(#[$meta:meta])* $key:ident: $kind:ty = $value:expr,)*
    }) => {
        #[derive(Serialize)]
        pub(crate) struct $name $(<$of>)? { $($(#[$meta])* $key: $kind,)* }

        impl $(<$of>)? $name $(<$of>)? {
            pub(crate) fn new($($arg: $type),*) -> Self {
                $name { $($key: $value,)* }
            }
        }
    };
}

pub(crate) use part;

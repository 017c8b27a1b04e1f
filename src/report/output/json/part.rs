//! A macro that writes parts of JSON documents as tables.

/// Defines a part of a document by its keys, each with its type and its value: a struct, and its function `new`. A key
/// with `?` is left out where its value is none.
macro_rules! part {
    ($name:ident $(<$of:tt>)? ($($arg:ident: $type:ty),* $(,)?) {
        $($(#[$meta:meta])* $key:ident $(: $kind:ty = $value:expr,)? $(?: $some:ty = $option:expr,)?)*
    }) => {
        #[derive(Serialize)]
        pub(crate) struct $name $(<$of>)? {$(
            $(#[$meta])*
            $($key: $kind,)?
            $(#[serde(skip_serializing_if = "Option::is_none")] $key: Option<$some>,)?
        )*}

        impl $(<$of>)? $name $(<$of>)? {
            pub(crate) fn new($($arg: $type),*) -> Self {
                $name {$(
                    $($key: $value,)?
                    $($key: $option,)?
                )*}
            }
        }
    };
}

pub(crate) use part;

//! Declares records.

/// Declares records: structs whose fields are read from a JSON object by name. A field's name in the
/// log is its own unless `=` gives another; `|` separates names of which any will do, the last one
/// written counts. `/` leads into an object: the field is read from the object's field of the next name. A
/// record can read only one field of an object in this way.
///
/// ```text
/// record! {
///     /// A message.
///     struct Message<'a> {
///         role: Text<'a>,
///         stop_reason: Text<'a> = "stopReason" | "stop_reason",
///         usage: Option<Usage>,
///         model: Text<'a> = "settings" / "model" / "id",
///     }
/// }
/// ```
///
/// A usage report names the numbers that add up to its prompt, and its output, so that it can be
/// [mended](super::repair); methods of [`UsageParts`](super::UsageParts) may follow: `mended [input + cached => output,
/// .total(total)] whole struct Usage`. A report that cannot name them so implements [`Repair`](super::Repair).
#[macro_export]
#[doc(hidden)]
macro_rules! lenient_record {
    () => {};
    ($(#[$meta:meta])* mended [$($parts:tt)*] whole $vis:vis struct $name:ident $(<$life:lifetime>)? { $($fields:tt)* } $($more:tt)*) => {
        $crate::lenient_record!(@mend [$($parts)*] [$($life)?] [$name $(<$life>)?] $($fields)*);
        $crate::lenient_record!($(#[$meta])* mended whole $vis struct $name $(<$life>)? { $($fields)* } $($more)*);
    };
    ($(#[$meta:meta])* mended whole $vis:vis struct $name:ident $(<$life:lifetime>)? { $($fields:tt)* } $($more:tt)*) => {
        $crate::lenient_record!(@struct [$(#[$meta])* $vis struct $name $(<$life>)?] $($fields)*);
        $crate::lenient_record!(@impl [$($life)?] [true] [mended] [$name $(<$life>)?] $($fields)*);
        $crate::lenient_record!($($more)*);
    };
    ($(#[$meta:meta])* whole $vis:vis struct $name:ident $(<$life:lifetime>)? { $($fields:tt)* } $($more:tt)*) => {
        $crate::lenient_record!(@struct [$(#[$meta])* $vis struct $name $(<$life>)?] $($fields)*);
        $crate::lenient_record!(@impl [$($life)?] [true] [] [$name $(<$life>)?] $($fields)*);
        $crate::lenient_record!($($more)*);
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$life:lifetime>)? { $($fields:tt)* } $($more:tt)*) => {
        $crate::lenient_record!(@struct [$(#[$meta])* $vis struct $name $(<$life>)?] $($fields)*);
        $crate::lenient_record!(@impl [$($life)?] [false] [] [$name $(<$life>)?] $($fields)*);
        $crate::lenient_record!($($more)*);
    };
    // A record without a lifetime can be read from any text.
    (@impl [] $($rest:tt)*) => { $crate::lenient_record!(@impl ['a] $($rest)*); };
    (@mend [$($parts:tt)*] [] $($rest:tt)*) => { $crate::lenient_record!(@mend [$($parts)*] ['a] $($rest)*); };
    (@struct [$($head:tt)*]
        $($(#[$meta:meta])* $vis:vis $field:ident: $type:ty $(= $($key:literal)|+ $(/ $inner:literal)*)?),* $(,)?) => {
        // A field is what the log calls it.
        #[allow(missing_docs)]
        #[derive(Debug, Default, Clone)]
        $($head)* {
            $($(#[$meta])* $vis $field: $type,)*
        }
    };
    (@impl [$life:lifetime] [$whole:literal] [$($mended:tt)?] [$($name:tt)*]
        $($(#[$meta:meta])* $vis:vis $field:ident: $type:ty $(= $($key:literal)|+ $(/ $inner:literal)*)?),* $(,)?) => {
        impl<$life> $crate::lenient::Record<$life> for $($name)* {
            const IS_WHOLE: bool = $whole;

            $(
                fn mend(&mut self, lost: &[&'static str]) -> $crate::lenient::UsableReport {
                    $crate::lenient_record!(@$mended);
                    $crate::lenient::mend($crate::lenient::Repair::parts(self), lost)
                }
            )?

            fn set(
                &mut self,
                name: &str,
                json: &mut $crate::lenient::Scanner<$life>,
                at: $crate::lenient::FieldPlace<'_>,
            ) -> ::std::result::Result<(), $crate::lenient::NotJson> {
                let (name, path, field): (_, &[_], &mut dyn $crate::lenient::Slot<$life>) = match name {
                    $(
                        $crate::lenient_record!(@names $field $($($key)|+)?) => (
                            $crate::lenient_record!(@first $field $($($key)|+)?),
                            &[$($($inner),*)?],
                            &mut self.$field,
                        ),
                    )*
                    _ => return json.skip(),
                };
                at.field(name).fill_along(path, json, field)
            }
        }
    };
    (@mended) => {};
    (@mend [$first:ident $(+ $more:ident)* => $output:ident $(, $(.$method:ident($($of:ident)?))+)?] [$life:lifetime] [$($name:tt)*]
        $($(#[$meta:meta])* $vis:vis $field:ident: $type:ty $(= $($key:literal)|+ $(/ $inner:literal)*)?),* $(,)?) => {
        impl<$life> $crate::lenient::Repair for $($name)* {
            fn parts(&mut self) -> $crate::lenient::UsageParts<'_> {
                let key = |field| match field {
                    $(stringify!($field) => $crate::lenient_record!(@first $field $($($key)|+)?),)*
                    _ => "",
                };
                let first = (key(stringify!($first)), &mut self.$first);
                let prompt = vec![first, $((key(stringify!($more)), &mut self.$more)),*];
                let output = (key(stringify!($output)), &mut self.$output);
                $crate::lenient::UsageParts::new(prompt, output)$($(.$method($(self.$of)?))+)?
            }
        }
    };
    (@names $field:ident) => { stringify!($field) };
    (@names $field:ident $($key:literal)|+) => { $($key)|+ };
    (@first $field:ident) => { stringify!($field) };
    (@first $field:ident $key:literal $(| $more:literal)*) => { $key };
}

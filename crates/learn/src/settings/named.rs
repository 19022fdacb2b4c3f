//! Values that are read and written by their name in a table.

/// Makes a type that is one row of a table of (value, name) read and write as that name. The rows are in the order of the
/// type's variants.
macro_rules! named {
    ($type:ty, $kind:literal, $table:expr) => {
        impl TryFrom<String> for $type {
            type Error = $crate::error::Error;
            fn try_from(name: String) -> Result<$type, $crate::error::Error> {
                $crate::error::Error::lookup($kind, &name, &$table)
            }
        }
        impl From<$type> for String {
            fn from(value: $type) -> String {
                $table[value as usize].1.to_string()
            }
        }
    };
}
pub(crate) use named;

// SPDX-License-Identifier: GPL-2.0-only

//! Tags of lines that allocate, for memory allocation profiling.
//!
//! C has macros that allocate: each use of one defines the tag of its line. Rust has functions.
//! They all take [`Flags`], and these can carry a tag. [`alloc_tag!`] defines the tag of its line
//! and adds it to the flags:
//!
//! ```
//! let b = KBox::new(24_u64, kernel::alloc_tag!(GFP_KERNEL))?;
//! # Ok::<(), Error>(())
//! ```
//!
//! The tag reaches the allocator as a parameter, so it is not the one of an allocation that an
//! interrupt or memory reclaim makes in between. Flags without a tag are charged to a line of
//! `rust/helpers/`.
//!
//! C header: [`include/linux/alloc_tag.h`](srctree/include/linux/alloc_tag.h)

use super::Flags;
use crate::bindings;
use core::cell::UnsafeCell;

/// The tag of a line that allocates.
///
/// Only [`alloc_tag!`] makes them. All are in one section, where C looks for them.
#[repr(transparent)]
pub struct AllocTag(UnsafeCell<bindings::alloc_tag>);

// SAFETY: Only C reads and writes tags, and orders that itself.
unsafe impl Sync for AllocTag {}

/// An element of the array with the counters of built-in tags.
///
/// The linker sizes that array: each built-in tag adds an element, in any order.
#[doc(hidden)]
#[repr(transparent)]
pub struct Counters(UnsafeCell<bindings::alloc_tag_counters>);

// SAFETY: Rust does not access them.
unsafe impl Sync for Counters {}

impl Counters {
    #[allow(missing_docs)]
    pub const ZERO: Self = Self(UnsafeCell::new(bindings::alloc_tag_counters {
        bytes: 0,
        allocs: 0,
        frees: 0,
    }));
}

/// What `file!()` has in front of paths in the source tree.
const SRCTREE: &[u8] = file!()
    .as_bytes()
    .split_at(file!().len() - PATH_OF_THIS_FILE.len())
    .0;
const PATH_OF_THIS_FILE: &str = "rust/kernel/alloc/tag.rs";

/// Where in `file` the path in the source tree begins.
const fn path_at(file: &[u8]) -> usize {
    let mut i = 0;
    while i < SRCTREE.len() {
        if i == file.len() || file[i] != SRCTREE[i] {
            return 0;
        }
        i += 1;
    }
    i
}

/// The length of the name of the crate, with which the path of a module begins.
const fn crate_len(module: &[u8]) -> usize {
    let mut i = 0;
    while i < module.len() && module[i] != b':' {
        i += 1;
    }
    i
}

/// Where the file name begins in what `file_name` returns.
#[doc(hidden)]
pub const fn file_name_at(module: &str) -> usize {
    crate_len(module.as_bytes()) + 2
}

/// The size of what `file_name` returns.
#[doc(hidden)]
pub const fn file_name_len(module: &str, file: &str) -> usize {
    file_name_at(module) + file.len() - path_at(file.as_bytes()) + 1
}

/// `":crate:path/in/tree"` and a NUL, see `CODETAG_FILENAME()` in `include/linux/codetag.h`.
#[doc(hidden)]
pub const fn file_name<const N: usize>(module: &str, file: &str) -> [u8; N] {
    let (module, file) = (module.as_bytes(), file.as_bytes());
    let (crate_len, path_at) = (crate_len(module), path_at(file));
    let mut name = [0; N];
    let mut i = 0;

    name[0] = b':';
    while i < crate_len {
        name[1 + i] = module[i];
        i += 1;
    }
    name[1 + crate_len] = b':';
    i = path_at;
    while i < file.len() {
        name[2 + crate_len + i - path_at] = file[i];
        i += 1;
    }
    name
}

/// Makes a tag.
///
/// # Safety
///
/// The caller must be [`alloc_tag!`]: the tag must be in the section for tags. If it is built in,
/// `counters` must be the array of the counters of built-in tags, with an element for the tag.
/// If it is in a module, `counters` must be NULL.
#[doc(hidden)]
pub const unsafe fn new(
    module: &'static str,
    function: &'static str,
    file_name: &'static [u8],
    line: u32,
    counters: *mut bindings::alloc_tag_counters,
    built_in: bool,
) -> AllocTag {
    let id = if built_in {
        bindings::codetag_id_CODETAG_ID_EARLY
    } else {
        bindings::codetag_id_CODETAG_ID_UNREPRESENTABLE
    };

    AllocTag(UnsafeCell::new(bindings::alloc_tag {
        ct: bindings::codetag {
            id: id as u16,
            state: 0,
            fault: 0,
            lineno: line,
            function: function.as_ptr().cast_mut().cast(),
            filename: file_name
                .split_at(file_name_at(module))
                .1
                .as_ptr()
                .cast_mut()
                .cast(),
        },
        counters: if built_in {
            counters.wrapping_add(id as usize)
        } else {
            counters
        },
    }))
}

/// The tag that flags carry, if they do.
#[derive(Clone, Copy)]
pub struct MaybeTag(#[cfg(CONFIG_MEM_ALLOC_PROFILING)] Option<&'static AllocTag>);

impl MaybeTag {
    /// No tag.
    pub(super) const NONE: Self = Self(
        #[cfg(CONFIG_MEM_ALLOC_PROFILING)]
        None,
    );

    /// Returns this tag, or the other if there is none.
    #[inline]
    pub(super) const fn or(self, other: Self) -> Self {
        #[cfg(CONFIG_MEM_ALLOC_PROFILING)]
        if self.0.is_none() {
            return other;
        }
        #[cfg(not(CONFIG_MEM_ALLOC_PROFILING))]
        let _ = other;
        self
    }

    /// Returns the pointer that C takes: NULL without a tag.
    #[inline]
    pub(super) const fn as_ptr(self) -> *mut bindings::alloc_tag {
        #[cfg(CONFIG_MEM_ALLOC_PROFILING)]
        if let Some(tag) = self.0 {
            return tag.0.get();
        }
        core::ptr::null_mut()
    }
}

/// Adds a tag to flags that have none.
#[cfg(CONFIG_MEM_ALLOC_PROFILING)]
#[doc(hidden)]
#[inline]
pub const fn tagged(flags: Flags, tag: &'static AllocTag) -> Flags {
    Flags(flags.0, flags.1.or(MaybeTag(Some(tag))))
}

/// Adds the tag of this line to the [`Flags`] of an allocation.
///
/// `/proc/allocinfo` then has a row for the line, with the path of the module as the name of the
/// function. A tag that the flags already have stays: a function that tags the flags that it is
/// given is charged to the line of its caller, if that has a tag. It costs a parameter, and
/// nothing without `CONFIG_MEM_ALLOC_PROFILING`.
///
/// # Examples
///
/// ```
/// let mut v = KVec::with_capacity(10, kernel::alloc_tag!(GFP_KERNEL))?;
/// v.push(1, kernel::alloc_tag!(GFP_KERNEL | __GFP_ZERO))?;
/// # Ok::<(), Error>(())
/// ```
///
/// [`Flags`]: crate::alloc::Flags
#[cfg(all(CONFIG_MEM_ALLOC_PROFILING, not(any(test, testlib))))]
#[macro_export]
macro_rules! alloc_tag {
    ($flags:expr) => {{
        const CRATE_PATH: &str = ::core::module_path!();
        const LEN: usize = $crate::alloc::tag::file_name_len(CRATE_PATH, ::core::file!());
        static FILE_NAME: [u8; LEN] = $crate::alloc::tag::file_name(CRATE_PATH, ::core::file!());

        #[cfg(not(MODULE))]
        #[cfg_attr(CONFIG_SMP, link_section = ".data..percpu..alloc_tags")]
        #[cfg_attr(not(CONFIG_SMP), link_section = ".data..alloc_tags")]
        #[used]
        static ALLOC_TAG_COUNTERS: $crate::alloc::tag::Counters =
            $crate::alloc::tag::Counters::ZERO;

        #[link_section = "alloc_tags"]
        #[used]
        #[allow(unused_unsafe)]
        // SAFETY: This is `alloc_tag!`. Of the array only the address is taken.
        static ALLOC_TAG: $crate::alloc::tag::AllocTag = unsafe {
            $crate::alloc::tag::new(
                CRATE_PATH,
                ::core::concat!(::core::module_path!(), "\0"),
                &FILE_NAME,
                ::core::line!(),
                #[cfg(not(MODULE))]
                ::core::ptr::addr_of_mut!($crate::bindings::builtin_alloc_tag_counters).cast(),
                #[cfg(MODULE)]
                ::core::ptr::null_mut(),
                ::core::cfg!(not(MODULE)),
            )
        };

        $crate::alloc::tag::tagged($flags, &ALLOC_TAG)
    }};
}

/// Adds nothing: there is no memory allocation profiling.
#[cfg(not(all(CONFIG_MEM_ALLOC_PROFILING, not(any(test, testlib)))))]
#[macro_export]
macro_rules! alloc_tag {
    ($flags:expr) => {
        $flags
    };
}

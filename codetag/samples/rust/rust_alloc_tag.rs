// SPDX-License-Identifier: GPL-2.0-only

//! A module that holds memory of lines with and without a tag.
//!
//! Each line with `alloc_tag!` is a row of `/proc/allocinfo`. The others are charged to a line of
//! `rust/helpers/`. Unloading the module frees everything.

use kernel::page::Page;
use kernel::prelude::*;
use kernel::str::CString;
use kernel::sync::Arc;

module! {
    type: Sample,
    name: "rust_alloc_tag",
    description: "Rust allocations with tags",
    license: "GPL",
}

const LEN: usize = 1000;

struct Sample {
    _boxed: KBox<[u8; LEN]>,
    _twin: KBox<[u8; LEN]>,
    _bytes: KVec<u8>,
    _large: VVec<u8>,
    _shared: Arc<[u8; LEN]>,
    _page: Page,
    _list: KVec<u64>,
    _either: KVVec<u8>,
    _grown: KVec<u8>,
    _pushed: KVec<u8>,
    _untagged: KBox<[u8; LEN]>,
    _text: CString,
}

/// A function that is given the flags is charged to the line of its caller.
fn vec_of<T>(len: usize, flags: kernel::alloc::Flags) -> Result<KVec<T>> {
    Ok(KVec::with_capacity(len, alloc_tag!(flags))?)
}

impl kernel::Module for Sample {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        // This one is freed at once: its row shows 0 bytes.
        let freed = KBox::new([0; LEN], alloc_tag!(GFP_KERNEL))?;
        drop(freed);

        let boxed = KBox::new([1; LEN], alloc_tag!(GFP_KERNEL))?;
        let twin = KBox::new([2; LEN], alloc_tag!(GFP_KERNEL))?;
        let bytes = vec_of(3 * LEN, alloc_tag!(GFP_KERNEL | __GFP_ZERO))?;
        let large = VVec::with_capacity(100 * LEN, alloc_tag!(GFP_KERNEL))?;
        let shared = Arc::new([3; LEN], alloc_tag!(GFP_KERNEL))?;
        let page = Page::alloc_page(alloc_tag!(GFP_KERNEL))?;
        let list = kernel::kvec![1, 2, 3, 4]?;
        let either = KVVec::with_capacity(3 * LEN, alloc_tag!(GFP_KERNEL))?;

        // Memory that is allocated again is charged to the line that grows it.
        let mut small = KVec::with_capacity(100, alloc_tag!(GFP_KERNEL))?;
        small.extend_from_slice(&[5; 100], GFP_KERNEL)?;
        let mut grown = small;
        grown.reserve(LEN, alloc_tag!(GFP_KERNEL))?;

        let mut pushed = KVec::new();
        for i in 0..LEN {
            pushed.push(i as u8, alloc_tag!(GFP_KERNEL))?;
        }
        if grown[..] != [5; 100] || pushed[LEN - 1] != (LEN - 1) as u8 {
            return Err(EINVAL);
        }

        let untagged = KBox::new([4; LEN], GFP_KERNEL)?;
        let text = CString::try_from(kernel::c_str!("a text"))?;

        Ok(Sample {
            _boxed: boxed,
            _twin: twin,
            _bytes: bytes,
            _large: large,
            _shared: shared,
            _page: page,
            _list: list,
            _either: either,
            _grown: grown,
            _pushed: pushed,
            _untagged: untagged,
            _text: text,
        })
    }
}

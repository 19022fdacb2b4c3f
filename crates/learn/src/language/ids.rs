//! Index spaces: numbers of different things are of different types.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of what stands at this place of a list.
            #[inline]
            pub fn at(index: usize) -> $name {
                $name(index as u32)
            }

            /// Its place in a list.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )* };
}

ids! {
    /// Who learns: agents may share a learner.
    Learner
    /// A rule slot among those of all learners.
    SlotId
    /// A slot among those of its action and learner.
    Place
    /// A slot among those of its kind and learner.
    Lane
    /// A kind of actions: those over the same candidate atoms.
    KindId
}

impl Learner {
    /// The first one, of which the others are copies: it has the same slots as each of them.
    pub const FIRST: Learner = Learner(0);
}

/// Slots that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The first of them.
    pub first: SlotId,
    len: u32,
}

impl Slots {
    /// The slots of a list from one place up to another.
    #[inline]
    pub fn new(range: std::ops::Range<usize>) -> Slots {
        Slots { first: SlotId::at(range.start), len: range.len() as u32 }
    }

    /// How many there are.
    #[inline]
    pub fn count(self) -> usize {
        self.len as usize
    }

    /// Each of them, in order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = SlotId> {
        (self.first.0..self.first.0 + self.len).map(SlotId)
    }

    /// Their places in a list of what belongs to all slots.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.first.index()..self.first.index() + self.count()
    }

    /// Which of these a slot is.
    #[inline]
    pub fn place_of(self, slot: SlotId) -> usize {
        slot.index() - self.first.index()
    }
}

//! Why a world cannot go on: whatever error it met, whole.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Any error of a world, as the world raised it. Cheap to clone.
///
/// ```
/// use derrl_env::Fault;
/// let fault = Fault::new("the simulator went away");
/// assert_eq!(fault.to_string(), "the simulator went away");
///
/// let fault = Fault::new(std::io::Error::other("disk full"));
/// assert!(fault.error().downcast_ref::<std::io::Error>().is_some());
/// ```
#[derive(Clone, Debug)]
pub struct Fault(Arc<dyn Error + Send + Sync>);

/// Any error that a world may raise.
pub type BoxError = Box<dyn Error + Send + Sync>;

impl Fault {
    /// The fault behind this error or message.
    pub fn new(error: impl Into<BoxError>) -> Fault {
        Fault(Arc::from(error.into()))
    }

    /// The error that the world raised, to be looked into.
    pub fn error(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.0.as_ref()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Two faults are alike if they read alike.
impl PartialEq for Fault {
    fn eq(&self, other: &Fault) -> bool {
        self.to_string() == other.to_string()
    }
}

//! Training in a folder, with Ctrl-C and progress.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use derrl::in_folder::{self, Control, Ended};
use derrl::learner::cores;
use derrl::spread::{self, Restarted};
use pyo3::exceptions::{PyKeyboardInterrupt, PyUserWarning};
use pyo3::prelude::*;

use crate::failure::{raise, raise_fault};
use crate::world::{World, read_options};

/// How often signals are looked at and progress is shown.
const POLL: Duration = Duration::from_millis(100);
/// How long a world written in Python may take to come back from a call once the run is to stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is asked of a run.
#[pyclass(frozen)]
pub struct Request(in_folder::Request);

#[pymethods]
impl Request {
    /// Takes what is asked as it is: `start` and `check` say what is wrong with it.
    #[new]
    #[pyo3(signature = (world, seed, settings, task = None, episodes = None, untyped = false, options = "{}", max_steps = None, max_seconds = None))]
    #[allow(clippy::too_many_arguments, reason = "they are the arguments of train in Python")]
    fn new(
        world: &Bound<'_, World>,
        seed: u64,
        settings: Vec<String>,
        task: Option<String>,
        episodes: Option<usize>,
        untyped: bool,
        options: &str,
        max_steps: Option<u64>,
        max_seconds: Option<f64>,
    ) -> PyResult<Request> {
        let World { world, planning, .. } = world.get().clone();
        let options = read_options(options)?;
        let asked = in_folder::Request {
            world,
            planning,
            task,
            seed,
            episodes,
            untyped,
            options,
            settings,
            max_steps,
            max_seconds,
        };
        Ok(Request(asked))
    }

    /// Makes the folder of a new run.
    fn start(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let warnings = self.0.world.check_training().map_err(raise)?;
        for warning in warnings {
            let warning = std::ffi::CString::new(warning)?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &warning, 2)?;
        }
        py.detach(|| in_folder::start(&self.0, &folder)).map_err(raise)
    }

    /// An error if what is asked is wrong, or if the folder holds another run than it would make.
    fn check(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| in_folder::check(&self.0, &folder)).map_err(raise)
    }
}

/// Trains in a folder from where it was, and returns what `train --json` prints. `progress` is called now and then with the
/// decisions made, 0, and a word on what is under way. `on_best` is called with every better policy; where it returns true, or `enough` is true from the start, the run ends with its best policy. What they raise, or Ctrl-C, stops the run, which
/// can be resumed.
#[pyfunction]
#[pyo3(signature = (world, folder, threads = None, progress = None, on_best = None, max_seconds = None, enough = false))]
#[allow(clippy::too_many_arguments, reason = "they are the arguments of train in Python")]
pub fn learn(
    py: Python<'_>,
    world: &Bound<'_, World>,
    folder: PathBuf,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    on_best: Option<Py<PyAny>>,
    max_seconds: Option<f64>,
    enough: bool,
) -> PyResult<String> {
    let World { world, python, .. } = world.get().clone();
    // The interpreter steps one world at a time.
    let threads = if python { 1 } else { threads.unwrap_or_else(cores) };
    let (ended, stopped) = watched(py, python, progress.as_ref(), on_best.as_ref(), |control| {
        if enough {
            control.enough();
        }
        in_folder::learn(&folder, &world, threads, max_seconds, control)
    })?;
    match (ended.map_err(raise)?, stopped) {
        (Ended::Failed(fault), _) => Err(raise_fault(&fault)),
        (_, Some(stopped)) => Err(stopped),
        (Ended::Finished(result), None) => Ok(result.to_string()),
        (Ended::Stopped, None) => Err(PyKeyboardInterrupt::new_err(())),
    }
}

/// Works on another thread while this one looks at signals and shows progress. Returns what came of it, and the exception
/// that stopped it.
fn watched<T: Send>(
    py: Python<'_>,
    python: bool,
    progress: Option<&Py<PyAny>>,
    on_best: Option<&Py<PyAny>>,
    work: impl FnOnce(&Control) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let control = Control::default();
    let (mut stopped, mut waited) = (None, Duration::ZERO);
    let ident = OnceLock::new();
    let ended = py.detach(|| {
        std::thread::scope(|scope| {
            let (control, ident) = (&control, &ident);
            let worker = scope.spawn(move || {
                if python {
                    // Attached once, so that each step of the world need not make itself known to the interpreter.
                    Python::attach(|py| {
                        let _ = own_ident(py).map(|own| ident.set(own));
                        py.detach(|| work(control))
                    })
                } else {
                    work(control)
                }
            });
            // Once more when it has ended: what it found last has not been told yet.
            let mut ended = false;
            while !ended {
                ended = worker.is_finished();
                if !ended {
                    std::thread::park_timeout(POLL);
                }
                if stopped.is_some() {
                    waited += POLL;
                    if let Some(&ident) = ident.get().filter(|_| waited >= PATIENCE) {
                        waited = Duration::ZERO;
                        // Where even that fails, there is nothing left but to wait.
                        let _ = Python::attach(|py| interrupt(py, ident));
                    }
                    continue;
                }
                let told = Python::attach(|py| {
                    py.check_signals()?;
                    let (decisions, message) = control.progress();
                    progress.map_or(Ok(()), |p| p.call1(py, (decisions, 0, message)).map(drop))?;
                    let Some((on_best, best)) = on_best.zip(control.new_best()) else { return Ok(()) };
                    let told = (best.policy, best.mean_return, best.success, best.decisions);
                    if on_best.call1(py, told)?.is_truthy(py)? {
                        control.enough();
                    }
                    Ok(())
                });
                if let Err(error) = told {
                    control.stop();
                    stopped = Some(error);
                }
            }
            worker.join()
        })
    });
    let ended =
        ended.map_err(|_| pyo3::exceptions::PyRuntimeError::new_err("derrl panicked: this is a bug"))?;
    Ok((ended, stopped))
}

/// The interpreter's number of this thread.
fn own_ident(py: Python<'_>) -> PyResult<u64> {
    py.import("threading")?.getattr("get_ident")?.call0()?.extract()
}

/// Raises a `KeyboardInterrupt` in the Python code that another thread runs: signals reach the main one only.
fn interrupt(py: Python<'_>, ident: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let ident = ctypes.getattr("c_ulong")?.call1((ident,))?;
    let kind = ctypes.getattr("py_object")?.call1((py.get_type::<PyKeyboardInterrupt>(),))?;
    ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?.call1((ident, kind))?;
    Ok(())
}

/// The pieces of work of the run in a folder that are to be done.
#[pyfunction]
pub fn pending(py: Python<'_>, world: &Bound<'_, World>, folder: PathBuf) -> PyResult<Vec<u64>> {
    // Looking at what there is to do may make worlds on other threads, which need the interpreter.
    let world = world.get().world.clone();
    py.detach(|| spread::pending(&folder, &world)).map_err(raise)
}

/// Does the work that is pending. Returns what `absorb` takes, or nothing where it was stopped at once, and the exception
/// that stopped it.
#[pyfunction]
#[pyo3(signature = (world, folder, progress = None))]
pub fn restart(
    py: Python<'_>,
    world: &Bound<'_, World>,
    folder: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Option<String>, Option<Py<PyAny>>)> {
    let World { world, python, .. } = world.get().clone();
    let (ended, stopped) = watched(py, python, progress.as_ref(), None, |control| {
        spread::restart(&folder, &world, control)
    })?;
    let (kept, error) = match ended.map_err(raise)? {
        Restarted::Result(kept) => (kept, stopped),
        Restarted::Failed(fault, kept) => (kept, Some(raise_fault(&fault))),
    };
    Ok((kept.map(|v| v.to_string()), error.map(|e| e.into_value(py).into_any())))
}

/// Takes in what restarts gave, and returns the best policy so far where it is new, as `so_far` does.
#[pyfunction]
#[pyo3(signature = (world, folder, results, seconds = 0.0))]
pub fn absorb(
    py: Python<'_>,
    world: &Bound<'_, World>,
    folder: PathBuf,
    results: Vec<String>,
    seconds: f64,
) -> PyResult<Option<String>> {
    let results: Result<Vec<_>, _> = results.iter().map(|text| serde_json::from_str(text)).collect();
    let (world, results) = (world.get().world.clone(), results.map_err(raise)?);
    let best = py.detach(|| spread::absorb(&folder, &world, results, seconds)).map_err(raise)?;
    Ok(best.map(|value| value.to_string()))
}

/// Writes the page of a finished run, and returns its path.
#[pyfunction]
#[pyo3(signature = (world, folder, out = None))]
pub fn report(
    py: Python<'_>,
    world: &Bound<'_, World>,
    folder: PathBuf,
    out: Option<PathBuf>,
) -> PyResult<PathBuf> {
    let world = world.get().world.clone();
    py.detach(|| in_folder::write_report(&folder, &world, out.as_deref())).map_err(raise)
}

/// Writes the curves and scores of a finished run as event files for TensorBoard.
#[pyfunction]
pub fn tensorboard(folder: PathBuf, logdir: PathBuf) -> PyResult<()> {
    in_folder::write_tensorboard(&folder, &logdir).map_err(raise)
}

/// What came of the run in a folder, as JSON; none where it is not finished.
#[pyfunction]
pub fn result(folder: PathBuf) -> PyResult<Option<String>> {
    Ok(in_folder::result(&folder).map_err(raise)?.map(|value| value.to_string()))
}

/// The best policy so far of the run in a folder, as JSON; none where there is none.
#[pyfunction]
pub fn so_far(folder: PathBuf) -> PyResult<Option<String>> {
    Ok(in_folder::so_far(&folder).map_err(raise)?.map(|value| value.to_string()))
}

/// Seconds that the run in a folder may still take, where they are limited, by itself or anew.
#[pyfunction]
#[pyo3(signature = (folder, max_seconds = None))]
pub fn seconds_left(folder: PathBuf, max_seconds: Option<f64>) -> PyResult<Option<f64>> {
    in_folder::seconds_left(&folder, max_seconds).map_err(raise)
}

/// The settings of training with their defaults, as JSON.
#[pyfunction]
pub fn settings() -> PyResult<String> {
    serde_json::to_string(&derrl::Settings::default()).map_err(raise)
}

//! What the kernel knows of this process.

use metrics::{counter, gauge};
use procfs::{ProcResult, WithCurrentSystemInfo, process::Process};

/// Sets the metrics that every exporter of Prometheus names so.
pub(super) fn record() -> ProcResult<()> {
    let process = Process::myself()?;
    let stat = process.stat()?;
    let ticks = procfs::ticks_per_second();
    let started = procfs::boot_time_secs()? + stat.starttime / ticks;
    counter!("process_cpu_seconds_total").absolute((stat.utime + stat.stime) / ticks);
    gauge!("process_resident_memory_bytes").set(stat.rss_bytes().get() as f64);
    gauge!("process_open_fds").set(process.fd_count()? as f64);
    gauge!("process_threads").set(stat.num_threads as f64);
    gauge!("process_start_time_seconds").set(started as f64);
    Ok(())
}
